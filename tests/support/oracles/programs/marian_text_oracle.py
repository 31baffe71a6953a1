"""Marian in int8 through pymarian, from text to text with the model's own SentencePiece: greedy.

A search one step at a time, with maxi-batches of all lines that it is given.
"""

from pathlib import Path

import _pymarian
import pymarian
from answering import Answer, serve, settings


def main() -> None:
    """Answers with text."""
    told = settings()
    folder, vocabulary, kind = Path(told["model"]), told["vocabulary"], told["gemm"]
    model = folder / f"model.{kind}.bin"
    if not model.is_file():
        source = str(folder / "model.npz")
        _pymarian.main(["convert", "--from", source, "--to", str(model), "--gemm-type", kind])
    shortlist = f"--shortlist {told['shortlist']} 50 50" if told["shortlist"] else ""
    translator = pymarian.Translator(
        f"--models {model} --vocabs {vocabulary} {vocabulary} --cpu-threads 1 --beam-size 1 "
        "--mini-batch 64 --mini-batch-words 1024 --maxi-batch 1000 --maxi-batch-sort src "
        f"--max-length-factor 3 --workspace 256 --quiet --skip-cost {shortlist}"
    )

    def answer(lines: list[str]) -> list[Answer]:
        return [{"text": text} for text in translator.translate(lines)]

    serve(answer)


main()
