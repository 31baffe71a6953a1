"""Stage 5, lexicon, first step: all that a student has learned from as one corpus.

    python recipes/common/lexicon_corpus.py recipes/en-de/data.toml WORK OUTPUT --from en --to de \
        --tokenizer TOKENIZER

WORK holds text/ and distilled.en-de/ (distil.py, or `distilled_text.py unpack`). With --references
it needs text/ alone (distil.py --cut-only) and takes what people wrote instead of what the teacher
did. OUTPUT is for `sieve lexicon build`.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from distil_text import lines_of
from student_corpora import OPTIONS, good_pairs, read, read_scores


def pairs_of(args: argparse.Namespace) -> Iterator[tuple[list[str], list[str]]]:
    """Sources and their translations, piece by piece."""
    text = args.work / "text"
    if args.references:
        for piece in sorted(int(folder.name) for folder in text.glob("???")):
            yield lines_of(text, piece, args.source), lines_of(text, piece, args.target)
        return
    folder = args.work / f"distilled.{args.source}-{args.target}"
    for path in sorted(folder.glob(f"???.{args.target}")):
        piece = int(path.name.split(".")[0])
        sources, references = (lines_of(text, piece, x) for x in (args.source, args.target))
        scores = read_scores(path)
        sources, outputs, _ = good_pairs(sources, read(path), references, scores, float("-inf"))
        yield sources, outputs


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pair", type=Path, help="data.toml")
    parser.add_argument("work", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--from", dest="source", required=True, metavar="LANGUAGE")
    parser.add_argument("--to", dest="target", required=True, metavar="LANGUAGE")
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--references", action="store_true")
    args = parser.parse_args()
    texts = [args.output.with_name(f"{args.output.name}.{side}.txt") for side in ("src", "tgt")]
    args.output.parent.mkdir(parents=True, exist_ok=True)
    with texts[0].open("w", encoding="utf-8") as src, texts[1].open("w", encoding="utf-8") as tgt:
        for pairs in pairs_of(args):
            for file, lines in zip((src, tgt), pairs, strict=True):
                file.writelines(f"{line}\n" for line in lines)
    command = [sys.executable, "-m", "sieve.cli", "prepare", "--pair", *map(str, texts)]
    command += ["--languages", args.source, args.target, "--overwrite", "--output"]
    command += [str(args.output), "--tokenizer", str(args.tokenizer), *OPTIONS]
    subprocess.run(command, check=True)
    for path in texts:
        path.unlink()


if __name__ == "__main__":
    main()
