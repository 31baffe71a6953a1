"""Lines into a numbered corpus, with the rules that count subword tokens."""

from collections.abc import Sequence
from pathlib import Path

from pipeline.tools import prepare, write_lines

OPTIONS = (
    *("--max-length-ratio", "3", "--length-slack", "3", "--max-tokens", "100"),
    *("--no-language-check", "--max-overlap", "off", "--keep-duplicates", "--workers", "1"),
)
"""The rules on subword tokens; `collect` has applied the others."""


def number_lines(
    corpus: Path, sides: Sequence[Sequence[str]], languages: tuple[str, str], tokenizer: Path
) -> None:
    """Makes a corpus of pairs of lines."""
    corpus.parent.mkdir(parents=True, exist_ok=True)
    texts = [corpus.with_name(f".{corpus.name}.{side}.txt") for side in ("src", "tgt")]
    for path, lines in zip(texts, sides, strict=True):
        write_lines(path, lines)
    prepare(
        "--pair", *texts, "--languages", *languages, "--overwrite", "--tokenizer", tokenizer,
        "--output", corpus, *OPTIONS,
    )  # fmt: skip
    for path in texts:
        path.unlink()
