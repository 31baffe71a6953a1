"""Share of sentences that sacremoses + BPE and SentencePiece give back exactly, on real text.

Learns both tokenizers on the first part of two files and counts on the rest. Writes
docs/results/moses_roundtrip.json.

    python benchmarks/moses_roundtrip.py SOURCE TARGET SRC TGT [--lines 100000] [--merges 32000]
"""

import argparse
import json
import sys
import time
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from sieve.data.reading import read_lines
from sieve.tokenize.normalize import normalize
from sieve.tokenize.tokenizer import Tokenizer
from sieve.tokenize.tokenizer_training import TokenizerOptions, train_tokenizers
from sieve.tokenize.vocabulary import UNK

RESULTS = Path(__file__).parents[1] / "docs" / "results" / "moses_roundtrip.json"


def measure(tokenizer: Tokenizer, lines: list[str]) -> dict[str, Any]:
    start = time.process_time()
    ids = tokenizer.encode(lines)
    encoded = time.process_time()
    texts = tokenizer.decode(ids)
    decoded = time.process_time()
    tokens = sum(map(len, ids))
    return {
        "sentences": len(lines),
        "exact_share": round(
            sum(a == b for a, b in zip(texts, lines, strict=True)) / len(lines), 5
        ),
        "tokens": tokens,
        "unknown_tokens": sum(one.count(UNK) for one in ids),
        "encoded_per_cpu_second": round(len(lines) / (encoded - start)),
        "decoded_per_cpu_second": round(len(lines) / (decoded - encoded)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs=2, type=Path)
    parser.add_argument("languages", nargs=2)
    parser.add_argument("--lines", type=int, default=100_000, help="to learn from")
    parser.add_argument("--test-lines", type=int, default=20_000)
    parser.add_argument("--merges", type=int, default=32_000)
    arguments = parser.parse_args()
    learn, test = [], []
    for path in arguments.files:
        lines = [normalize(line) for line in read_lines(path)]
        step = max(1, len(lines) // (arguments.lines + arguments.test_lines))
        spread = lines[::step]
        learn.append(spread[: arguments.lines])
        test.append(list(islice(spread, arguments.lines, arguments.lines + arguments.test_lines)))
    options = TokenizerOptions(vocab_size=arguments.merges, sample_pairs=arguments.lines)
    languages = (arguments.languages[0], arguments.languages[1])
    results = []
    for kind in ("moses-bpe", "sentencepiece-unigram"):
        start = time.monotonic()
        both = train_tokenizers(replace(options, kind=kind), learn[0], learn[1], languages)
        seconds = round(time.monotonic() - start, 1)
        for language, tokenizer, lines in zip(
            languages, (both.source, both.target), test, strict=True
        ):
            row = {"kind": kind, "language": language, "vocab_size": tokenizer.vocab_size}
            results.append({**row, "learning_seconds": seconds, **measure(tokenizer, lines)})
            print(json.dumps(results[-1]), flush=True)
    content = {
        "command": " ".join(["python", *sys.argv]),
        "text": [path.name for path in arguments.files],
        "learned_from_lines": [len(lines) for lines in learn],
        "results": results,
    }
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
