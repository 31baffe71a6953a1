"""Marian in fp32 through pymarian: the scores of given translations, computed as in training.

A line holds the pieces of both sides, with a tab between them.
"""

import tempfile
from pathlib import Path

import _pymarian
from answering import Answer, serve, settings


def main() -> None:
    """Answers with the log-probability of each piece, EOS included."""
    folder = Path(settings()["model"])
    vocabulary = str(folder / "vocab.yml")

    def answer(lines: list[str]) -> list[Answer]:
        with tempfile.TemporaryDirectory() as scratch:
            source, target, scores = (str(Path(scratch, name)) for name in ("src", "trg", "scores"))
            pairs = [line.split("\t") for line in lines]
            for path, side in ((source, 0), (target, 1)):
                text = "".join(f"{pair[side]}\n" for pair in pairs)
                Path(path).write_text(text, encoding="utf-8")
            command = ["score", "--model", str(folder / "model.npz"), "--vocabs", vocabulary]
            command += [vocabulary, "--train-sets", source, target, "--output", scores]
            _pymarian.main([*command, "--cpu-threads", "1", "--word-scores", "--quiet"])
            rows = Path(scores).read_text().splitlines()
        return [{"scores": list(map(float, row.split("= ")[1].split()))} for row in rows]

    serve(answer)


main()
