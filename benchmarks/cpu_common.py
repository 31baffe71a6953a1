"""What the CPU benchmarks share: sizes, sentences, the lexicon all engines get, statistics.

Parent and workers import it, so it needs numpy alone.
"""

import json
import os
import platform
import re
import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

WORDS = 32000
"""Words of both vocabularies. Sieve's ids 0 to 3 are PAD, BOS, EOS and UNK."""
SPECIAL, EOS = 4, 2
BEAM = 5
COMMON = 50
"""Words that every sentence's lexicon set holds: the first ones, as in Marian's shortlist."""
LEXICON_FILE = "lexicon.npy"
LENGTH = 30
"""Source and output tokens of the main table, EOS counted in the source."""
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Size:
    """Dimensions of one column of the table."""

    label: str
    preset: str
    encoder_layers: int
    decoder_layers: int
    d_model: int
    d_ff: int
    heads: int
    repeats: int
    """Sentences measured unless the command says otherwise."""

    def step_bytes(self, words: float) -> float:
        """Bytes of int8 weights that a decoder step of Sieve must read.

        A layer has forget gate and value of the SSRU, query and output of the cross-attention (its
        keys and values are made once a sentence), and the feed-forward; the output layer has one
        row a selected word.
        """
        layer = 4 * self.d_model**2 + 2 * self.d_model * self.d_ff
        return self.decoder_layers * layer + words * self.d_model


SIZES = {
    "256": Size("256/1536", "tiny", 6, 2, 256, 1536, 4, 200),
    "base": Size("base 512/2048", "base", 6, 2, 512, 2048, 8, 100),
    "paper": Size("paper 1024/4096", "paper", 20, 2, 1024, 4096, 16, 30),
}


def word(index: int) -> str:
    """The text of a word for engines that take text."""
    return f"w{index}"


def random_sentences(lengths: list[int], seed: int) -> list[list[int]]:
    """Sources of these lengths, EOS counted, of distinct random words."""
    rng = np.random.default_rng(seed)
    pool = np.arange(COMMON, WORDS)
    return [[*rng.choice(pool, length - 1, replace=False).tolist(), EOS] for length in lengths]


def make_lexicon(set_size: int) -> npt.NDArray[np.int32]:
    """For each source word the words it adds to a set, itself first: (V, n).

    With the COMMON first words a source of LENGTH tokens gets about `set_size` words.
    """
    own = max(1, round((set_size - COMMON) / (LENGTH - 1)))
    rng = np.random.default_rng(7)
    table = rng.integers(COMMON, WORDS, (WORDS, own), dtype=np.int32)
    table[:, 0] = np.arange(WORDS)
    return table


def lexicon_set(lexicon: npt.NDArray[np.int32], ids: list[int]) -> set[int]:
    """The words that a sentence gets from the lexicon."""
    chosen = set(range(COMMON))
    for index in ids:
        if index >= SPECIAL:
            chosen.update(lexicon[index].tolist())
    return chosen


def real_lengths(path: Path, tokenizer: Path | None) -> list[int]:
    """Subword tokens of each line of a file, EOS counted.

    Without a SentencePiece model an estimate: a word has one token for each started six letters,
    and punctuation is a token. On newstest2019 its mean is within 4 % of a 32k model's.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    if tokenizer is not None:
        import sentencepiece

        processor = sentencepiece.SentencePieceProcessor(model_file=str(tokenizer))
        return [len(processor.encode(line)) + 1 for line in lines]
    parts = re.compile(r"\w+|[^\w\s]")
    return [1 + sum(-(-len(part) // 6) for part in parts.findall(line)) for line in lines]


class Stopwatch:
    """Wall and CPU time of a `with` block; CPU time is that of all threads of the process."""

    def __enter__(self) -> "Stopwatch":
        self._begin = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *exception: object) -> None:
        self.seconds = time.perf_counter() - self._begin[0]
        self.cpu = time.process_time() - self._begin[1]

    def answer(self, length: int, words: int) -> dict[str, Any]:
        """What a worker says of a sentence: times, output tokens, words to choose from."""
        return {"seconds": self.seconds, "cpu": self.cpu, "length": length, "words": words}


def summary(seconds: list[float]) -> dict[str, float]:
    """Milliseconds: median, 90th and 99th percentile, mean with its 95 % interval."""
    times = np.array(seconds) * 1000
    spread = times.std(ddof=1) if len(times) > 1 else 0.0
    return {
        "p50": round(float(np.median(times)), 4),
        "p90": round(float(np.percentile(times, 90)), 4),
        "p99": round(float(np.percentile(times, 99)), 4),
        "mean": round(float(times.mean()), 4),
        "ci95": round(float(1.96 * spread / len(times) ** 0.5), 4),
        "n": len(times),
    }


def ratio(theirs: list[float], ours: list[float]) -> dict[str, Any]:
    """How many times longer they take than we, with 95 % intervals of a paired bootstrap."""
    pair = np.array([theirs, ours])  # (2, n)
    rng = np.random.default_rng(0)
    n = pair.shape[1]
    samples = pair[:, rng.integers(0, n, (2000, n))]  # (2, 2000, n)
    found: dict[str, Any] = {}
    for name, statistic in _STATISTICS.items():
        values = statistic(pair)
        spread = statistic(samples)
        low, high = np.percentile(spread[0] / spread[1], (2.5, 97.5))
        found[name] = round(float(values[0] / values[1]), 3)
        found[f"{name}_ci95"] = [round(float(low), 3), round(float(high), 3)]
    return found


def _p90(values: Floats) -> Floats:
    return np.percentile(values, 90, axis=-1)


def _mean(values: Floats) -> Floats:
    return values.mean(axis=-1)


_STATISTICS = {"p90": _p90, "mean": _mean}


def machine() -> dict[str, Any]:
    """CPU and system, for the record."""
    return {
        "cpu": _cpuinfo("model name"),
        "vector_extensions": sorted(
            flag
            for flag in _cpuinfo("flags").split()
            if flag.startswith(("avx", "amx", "asimd")) or flag == "fma"
        ),
        "cores": os.cpu_count(),
        "load_average": [round(value, 1) for value in os.getloadavg()],
        "python": platform.python_version(),
    }


def _cpuinfo(field: str) -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    found = (line.partition(":")[2].strip() for line in lines if line.startswith(field))
    return next(found, platform.processor())


def command_by_names() -> str:
    """The command line, with every file and directory by its name alone."""
    named = [re.sub(r"[^\s=,]*/(?=[^/])", "", word) for word in sys.argv[1:]]
    return " ".join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *named])


def command() -> str:
    """The command line, with placeholders for the places of this machine."""
    shown = ["python", *sys.argv]
    for option, placeholder in (
        ("--data", "DATA"),
        ("--tokenizer", "TOKENIZER"),
        ("--note", "NOTE"),
    ):
        if option in shown[:-1]:
            shown[shown.index(option) + 1] = placeholder
    return " ".join(shown)


def earlier(path: Path, only: Sequence[str] | None) -> dict[str, Any]:
    """What stays of a result's last run, where this one leaves systems out."""
    if not only or not path.is_file():
        return {}
    last = json.loads(path.read_text(encoding="utf-8"))
    last.pop("earlier", None)
    return {"earlier": last}


def ended_children_seconds() -> float:
    """Seconds of the processors that children took which have ended, with all of theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def note(text: str) -> None:
    """Progress, on stderr."""
    print(text, file=sys.stderr, flush=True)
