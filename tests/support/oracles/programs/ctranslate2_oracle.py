"""CTranslate2 on one thread, int8 or fp32: greedy or beam search, scores of its own output."""

from pathlib import Path
from typing import Any

import ctranslate2
import ctranslate2.converters
from answering import Answer, serve, settings
from transformers import MarianTokenizer


def converted(model: Path, kind: str) -> str:
    """The model in CTranslate2's format, beside the original; converted once."""
    output = model.parent / f"{model.name}-ctranslate2-{kind}"
    if not (output / "model.bin").is_file():
        converter = ctranslate2.converters.TransformersConverter(str(model))
        converter.convert(str(output), quantization=kind, force=True)
    return str(output)


def main() -> None:
    """Answers with pieces, text and the log-probability of each token, EOS included."""
    told = settings()
    model = Path(told["model"])
    tokenizer = MarianTokenizer.from_pretrained(model)
    translator = ctranslate2.Translator(
        converted(model, told["kind"]), compute_type=told["kind"], intra_threads=1, inter_threads=1
    )

    def scores(sources: list[list[str]], outputs: list[list[str]]) -> list[Any]:
        return [list(one.log_probs) for one in translator.score_batch(sources, outputs)]

    def answer(lines: list[str]) -> list[Answer]:
        sources = [tokenizer.convert_ids_to_tokens(tokenizer(line).input_ids) for line in lines]
        results = translator.translate_batch(
            sources, beam_size=told["beam"], max_decoding_length=512
        )
        outputs = [one.hypotheses[0] for one in results]
        answers: list[Answer] = []
        for output in outputs:
            ids = tokenizer.convert_tokens_to_ids(output)
            answers.append({"ids": ids, "text": tokenizer.decode(ids, skip_special_tokens=True)})
        if told["scores"]:
            for one, values in zip(answers, scores(sources, outputs), strict=True):
                one["scores"] = values
        return answers

    serve(answer)


main()
