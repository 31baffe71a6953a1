"""Marian in fp32 through pymarian: greedy or beam search, the scores of its own output.

The vocabulary is a list of pieces, so lines come and go as pieces, and no tokenizer
has a part in it.
"""

from pathlib import Path

import pymarian
from answering import Answer, serve, settings


def main() -> None:
    """Answers with pieces and the log-probability of each, EOS included."""
    told = settings()
    folder = Path(told["model"])
    vocabulary = folder / "vocab.yml"
    translator = pymarian.Translator(
        f"--models {folder / 'model.npz'} --vocabs {vocabulary} {vocabulary} --cpu-threads 1 "
        f"--beam-size {told['beam']} --normalize 1 --mini-batch 16 --max-length-factor 3 "
        "--workspace 512 --quiet --n-best --word-scores"
    )

    def answer(lines: list[str]) -> list[Answer]:
        output = translator.translate(lines)
        best: dict[int, Answer] = {}
        for line in "\n".join(output).splitlines():
            number, pieces, scores, _ = line.split(" ||| ", 3)
            values = [float(score) for score in scores.split()[1:]]
            best.setdefault(int(number), {"pieces": pieces.split(), "scores": values})
        first = min(best)
        return [best[first + row] for row in range(len(lines))]

    serve(answer)


main()
