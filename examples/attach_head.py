"""A selection head for a model, and what it is worth: outputs that stay what they were, and time.

    pip install 'sieve-nmt[train]'
    python examples/attach_head.py MODEL news.en --test test.en --output selected --minutes 20

MODEL is a model directory, a built-in name, or what `sieve import` reads.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

import sieve


def main() -> None:
    """Attaches a head, then translates a test with and without it."""
    parser = argparse.ArgumentParser(description="Attaches a selection head and measures it.")
    parser.add_argument("model")
    parser.add_argument("text", type=Path, help="sentences of the source language, one a line")
    parser.add_argument("--test", type=Path, required=True, help="other sentences, to measure on")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--minutes", default="20")
    parser.add_argument("--size", default="1000", help="mean tokens of a shortlist")
    options = parser.parse_args()

    # Work that was interrupted resumes when this is run again.
    attach = ["attach", options.model, "--source", str(options.text), "--minutes", options.minutes]
    attach += ["--size", options.size, "--output", str(options.output)]
    command = [sys.executable, "-m", "sieve.cli", *attach]
    if subprocess.run(command).returncode:
        sys.exit(2)  # what was wrong has been said

    lines = options.test.read_text("utf-8").splitlines()
    with sieve.load(options.output, threads=1) as translator:
        begin = time.perf_counter()
        full = translator.translate(lines, selection="none", beam_size=1)
        middle = time.perf_counter()
        selected = translator.translate(lines, beam_size=1)
        end = time.perf_counter()
    same = sum(a.text == b.text for a, b in zip(full, selected, strict=True))
    size = sum(translation.shortlist_size for translation in selected) / len(lines)
    print(f"{same} of {len(lines)} outputs are those of all {full[0].vocab_size} tokens")
    print(f"{size:.0f} tokens a shortlist, {(middle - begin) / (end - middle):.2f} times as fast")


if __name__ == "__main__":
    main()
