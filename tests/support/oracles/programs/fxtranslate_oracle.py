"""Firefox's engine in Rust: int8, greedy, over all words or over its shortlist."""

from pathlib import Path

from answering import Answer, serve, settings
from fxtranslate import Translator


def main() -> None:
    """Answers with text."""
    told = settings()
    folder = Path(told["model"])
    model, vocabulary = (next(folder.glob(name)).read_bytes() for name in ("model*.bin", "*.spm"))
    shortlist = next(folder.glob("lex*.bin")).read_bytes() if told["shortlist"] else None
    translator = Translator(model, vocabulary, vocabulary, shortlist)

    def answer(lines: list[str]) -> list[Answer]:
        return [{"text": translator.translate(line)} for line in lines]

    serve(answer)


main()
