"""The board's real models: every engine that can run one translates the same text, in turns.

Each engine is a process of its own (tests/support/oracles) on one core and one thread, greedy, from
text to text. What cannot be had here is left out with its reason.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from oracles.asking import Answer, Oracle, Peer
from oracles.comparing import quality
from oracles.environments import (
    BERGAMOT,
    FXTRANSLATE,
    HUGGING_FACE,
    MARIAN,
    SIEVE,
    Unavailable,
    peers_folder,
)
from oracles.real_models import dequantized, firefox, lines_of, opus

from cpu_common import machine, note, ratio, summary
from sieve.bundle.directory import open_bundle
from sieve.importers.importing import ImportOptions, import_model
from sieve.importers.origin import Origin
from sieve.selection.exchange import write_lexicon
from sieve.selection.lexicon import Lexicon

OURS = "Sieve, all tokens"
ALL_AT_ONCE = 10**9
FIREFOX_SETS = {
    "en-pt": ("newstest2019.en-de.en", "ntrex128.en-pt.pt"),
    "pt-en": ("ntrex128.en-pt.pt", "ntrex128.en-pt.en"),
}
NAMES = ("firefox-en-pt", "firefox-pt-en", "opus")
"""Of the models."""
_BLOCK = 4
_TUNING = 8
"""One of this many lines is in the comparison of batches."""


@dataclass(frozen=True)
class Entry:
    """An engine with a way to run the model."""

    peer: Peer
    weights: Callable[[], list[Path]]
    """Its files of weights, and of a shortlist that it uses."""
    batches: tuple[int, ...] = (ALL_AT_ONCE,)
    """Lines of a call that are tried where many are to be translated."""


@dataclass(frozen=True)
class Real:
    """A model, and what it translates."""

    title: str
    test: tuple[str, str]
    entries: dict[str, Entry]
    left_out: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Effort:
    """How much is measured."""

    sentences: int
    bulk: int
    rounds: int


def models(scratch: Path, head: Path | None, names: Sequence[str]) -> Iterator[Real]:
    """The models that can be had.

    Args:
        scratch: Where imports are written.
        head: The first model with a head attached, if there is one.
        names: Some of NAMES.
    """
    makes = (
        lambda: _firefox("en-pt", scratch, head),
        lambda: _firefox("pt-en", scratch, None),
        lambda: _opus(scratch),
    )
    for name, make in zip(NAMES, makes, strict=True):
        if name not in names:
            continue
        try:
            yield make()
        except Unavailable as reason:
            note(f"left out: {reason}")


def _sieve(directory: Path, selection: str | None = "none") -> Entry:
    settings = {"model": str(directory), "selection": selection, "beam": 1}
    names = ["model.safetensors"] + ["lexicon.safetensors"] * ("lexicon" in (selection or ""))
    return Entry(Peer(SIEVE, "sieve_oracle", settings), lambda: [directory / n for n in names])


def _imported(source: Path, scratch: Path) -> Path:
    directory = scratch / source.name
    if not directory.exists():
        import_model(Origin(source), directory, ImportOptions(form="int8"))
    return directory


def _firefox(pair: str, scratch: Path, head: Path | None) -> Real:
    student = firefox(pair)
    ours = _imported(student, scratch)
    entries = {OURS: _sieve(ours), "Sieve, shortlist": _sieve(ours, "lexicon:100")}
    if head is not None:
        entries["Sieve, head"] = _sieve(head, None)
    model, spm = next(student.glob("model*.bin")), next(student.glob("*.spm"))
    for name, environment in (("bergamot", BERGAMOT), ("fxtranslate", FXTRANSLATE)):
        for shortlist in (False, True):
            settings = {"model": str(student), "shortlist": shortlist, "scores": False}
            peer = Peer(environment, f"{name}_oracle", settings)
            files = [model, *(student.glob("lex*.bin") if shortlist else ())]
            label = f"{name}, {'shortlist' if shortlist else 'all tokens'}"
            entries[label] = Entry(peer, lambda files=files: files)  # type: ignore[misc]
    entries |= _marian(student, ours, spm)
    title = f"Firefox {pair.replace('-', '→')}, 6+2 layers, 256/1536, 32,000 tokens"
    return Real(title, FIREFOX_SETS[pair], entries)


def _marian(student: Path, ours: Path, spm: Path) -> dict[str, Entry]:
    """Marian with the student's weights, its own int8 and the student's shortlist."""
    tokenizers = open_bundle(ours).tokenizers()
    pieces = [tokenizers.target.piece(index) for index in range(tokenizers.target.vocab_size)]
    name = student.name.replace("firefox", "marian")
    folder = dequantized(student, pieces, peers_folder() / "models" / name)
    shortlist = folder / "lex.s2t"
    write_lexicon(shortlist, "marian", Lexicon.open(ours), tokenizers, 50)
    # the faster of its formats, as cpu_latency.py tries them
    kind = "packed8avx512" if "avx512f" in machine()["vector_extensions"] else "intgemm8"
    entries = {}
    for label, file in (("all tokens", ""), ("shortlist", str(shortlist))):
        settings = {
            "model": str(folder), "vocabulary": str(spm), "gemm": kind, "shortlist": file
        }  # fmt: skip
        files = [folder / f"model.{kind}.bin", *([shortlist] if file else [])]
        peer = Peer(MARIAN, "marian_text_oracle", settings)
        entries[f"Marian, {label}"] = Entry(peer, lambda files=files: files)  # type: ignore[misc]
    return entries


def _opus(scratch: Path) -> Real:
    model = opus("en-fr")
    told = {"model": str(model), "beam": 1}
    small = Peer(HUGGING_FACE, "ctranslate2_oracle", {**told, "kind": "int8", "scores": False})
    large = Peer(HUGGING_FACE, "transformers_oracle", told)
    converted = model.parent / f"{model.name}-ctranslate2-int8"
    entries = {
        OURS: _sieve(_imported(model, scratch)),
        "CTranslate2, int8": Entry(small, lambda: [converted / "model.bin"], (1, 8, 32, 128)),
        "transformers, float32": Entry(large, lambda: [model / "pytorch_model.bin"], (1, 8, 32)),
    }
    test = ("newstest2019.en-de.en", "ntrex128.en-fr.fr")
    return Real("OPUS-MT en→fr, 6+6 layers, 512/2048, 59,514 tokens", test, entries)


def measured(real: Real, core: int, effort: Effort) -> dict[str, Any]:
    """Latency, throughput, memory, size and quality of each engine."""
    lines, references = (lines_of(name, effort.sentences) for name in real.test)
    with ExitStack() as stack:
        running = dict(_started(real, core, lines[0], stack))
        seconds, answers = _in_turns(running, lines)
        peaks = {name: _peak(oracle) for name, oracle in running.items()}
        bulk = _bulk(real, running, lines_of(real.test[0], effort.bulk), effort.rounds)
        for name, oracle in running.items():
            bulk[name]["peak_mb"] = _peak(oracle)
    rows = {}
    for name in running:
        texts = [one["text"] for one in answers[name]]
        sets = [one["words"] for one in answers[name] if "words" in one]
        bleu, chrf = quality(texts, references)
        rows[name] = {
            **summary(seconds[name]),
            "times_ours": ratio(seconds[name], seconds[OURS]),
            "set": round(fmean(sets)) if sets else None,
            "bleu": round(bleu, 2),
            "chrf": round(chrf, 2),
            "peak_mb": peaks[name],
            "file_mb": round(sum(p.stat().st_size for p in real.entries[name].weights()) / 1e6, 1),
            "bulk": bulk[name],
        }
    result = {"model": real.title, "sentences": len(lines), "bulk_lines": effort.bulk}
    return {**result, "engines": rows, "left_out": real.left_out}


def _started(real: Real, core: int, line: str, stack: ExitStack) -> Iterator[tuple[str, Oracle]]:
    """The engines that run here, each with a line translated."""
    for name, entry in real.entries.items():
        try:
            with on_core(core):
                oracle = stack.enter_context(Oracle(entry.peer))
            oracle.ask([line])
        except Unavailable as reason:
            real.left_out[name] = str(reason)
            note(f"{name} left out: {reason}")
            continue
        note(f"{real.title}: {name} is ready")
        yield name, oracle


@contextmanager
def on_core(core: int) -> Iterator[None]:
    """Processes that start within the block stay on one core; this one goes back to its own."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _in_turns(
    running: dict[str, Oracle], lines: Sequence[str]
) -> tuple[dict[str, list[float]], dict[str, list[Answer]]]:
    """Seconds and answers of each line, one at a time, some lines a turn."""
    seconds: dict[str, list[float]] = {name: [] for name in running}
    answers: dict[str, list[Answer]] = {name: [] for name in running}
    rng = np.random.default_rng(5)
    for start in range(0, len(lines), _BLOCK):
        for name in rng.permutation(list(running)):
            running[name].ask([lines[start - 1]])  # warms the caches
            for line in lines[start : start + _BLOCK]:
                [answer], took = running[name].ask([line])
                seconds[name].append(took)
                answers[name].append(answer)
    return seconds, answers


def _bulk(
    real: Real, running: dict[str, Oracle], lines: Sequence[str], rounds: int
) -> dict[str, dict[str, Any]]:
    """Source words a second where all lines are there at once, in the best batches of each."""
    words = sum(len(line.split()) for line in lines)
    best: dict[str, int] = {}
    for name, oracle in running.items():
        batches = real.entries[name].batches
        tried = {batch: _together(oracle, lines[::_TUNING], batch) for batch in batches}
        best[name] = min(tried, key=lambda batch: tried[batch])
    runs: dict[str, list[float]] = {name: [] for name in running}
    rng = np.random.default_rng(6)
    for _ in range(rounds):
        for name in rng.permutation(list(running)):
            runs[name].append(words / _together(running[name], lines, best[name]))
            note(f"{real.title}: {name}: {runs[name][-1]:.0f} words a second")
    return {
        name: {
            "words_per_second": round(median(values), 1),
            "runs": [round(value, 1) for value in values],
            "batch": None if best[name] == ALL_AT_ONCE else best[name],
        }
        for name, values in runs.items()
    }


def _together(oracle: Oracle, lines: Sequence[str], batch: int) -> float:
    """Seconds that lines take, of similar length in a batch."""
    if batch < len(lines):
        lines = sorted(lines, key=len, reverse=True)
    return sum(oracle.ask(lines[n : n + batch])[1] for n in range(0, len(lines), batch))


def _peak(oracle: Oracle) -> float:
    status = Path(f"/proc/{oracle.process}/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return round(int(peak.split()[1]) / 1024, 1)
