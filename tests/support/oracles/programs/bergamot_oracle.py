"""Firefox's own engine: int8, greedy, over all words or over its shortlist.

The extension module alone is loaded: the package asks the network on import. Ids are not to be had
of it, so each token is given as the text it stands for, and scores as means over words.
"""

import html
import importlib.util
import re
import sysconfig
from pathlib import Path
from typing import Any

from answering import Answer, serve, settings

_CONFIG = """models: [{model}]
vocabs: [{vocabulary}, {vocabulary}]
beam-size: 1
normalize: 1.0
word-penalty: 0
max-length-break: 512
mini-batch-words: 2048
workspace: 128
max-length-factor: 3.0
skip-cost: {skip_cost}
cpu-threads: 1
quiet: true
quiet-translation: true
gemm-precision: int8shiftAlphaAll
ssplit-mode: sentence
"""
_SCORE = re.compile(r'x-bergamot-word-score="([^"]+)"')


def load() -> Any:
    """The extension module."""
    folder = Path(sysconfig.get_paths()["purelib"], "bergamot")
    spec = importlib.util.spec_from_file_location("_bergamot", next(folder.glob("_bergamot*.so")))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def config(model: Path, shortlist: bool, scores: bool) -> str:
    """The options, as Firefox sets them."""
    files = {"model": next(model.glob("model*.bin")), "vocabulary": next(model.glob("*.spm"))}
    text = _CONFIG.format(**files, skip_cost=str(not scores).lower())
    if scores:
        text += 'alignment: soft\nquality: ""\n'
    if shortlist:
        text += f"shortlist: [{next(model.glob('lex*.bin'))}, false]\n"
    return text


def words(tokens: list[str]) -> list[list[float]]:
    """Tokens and mean log-probability of each word, from the tags in front of the tokens."""
    counted: list[list[float]] = []
    for token in tokens:
        score = _SCORE.search(token)
        if score:
            counted.append([0, float(score[1])])
        counted[-1][0] += 1
    return counted


def main() -> None:
    """Answers with text, and on request with the tokens' texts and the words' scores."""
    told, bergamot = settings(), load()
    service = bergamot.Service(bergamot.ServiceConfig(1, 0, "off"))
    scores = bool(told["scores"])
    model = service.modelFromConfig(config(Path(told["model"]), told["shortlist"], scores))

    def translated(lines: list[str], marked: bool) -> list[Any]:
        options = bergamot.ResponseOptions()
        options.HTML = options.qualityScores = options.alignment = marked
        texts = [html.escape(line, quote=False) for line in lines] if marked else lines
        return list(service.translate(model, bergamot.VectorString(texts), options))

    def answer(lines: list[str]) -> list[Answer]:
        plain = translated(lines, marked=False)
        answers: list[Answer] = [{"text": one.target.text} for one in plain]
        if scores:
            for one, response, tagged in zip(answers, plain, translated(lines, True), strict=True):
                one["pieces"] = _tokens(response.target)
                one["source"] = _tokens(response.source)
                one["words"] = words(_tokens(tagged.target))
        return answers

    serve(answer)


def _tokens(text: Any) -> list[str]:
    sentences = range(text.numSentences())
    return [text.word(s, n) for s in sentences for n in range(text.numWords(s))]


main()
