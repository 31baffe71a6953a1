"""Teacher, first step: clean text into numbered corpora of both directions, on all cores.

    python recipes/common/corpora.py recipes/en-de/data.toml COLLECTED OUTPUT

COLLECTED holds part1/ and part2/ of collect.py (a part that is not there yet can follow in a later
call), its tokenizer/ and test/. Each part is cut into chunks, which `sieve prepare` numbers in both
directions, one process a chunk: the source gets the tag of the language wanted. Writes corpora and
OUTPUT/run.toml, the configuration of the training run.
"""

import argparse
import bz2
import itertools
import json
import os
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from pair import Pair, read_pair

CHUNK = 100_000
OPTIONS = (
    *("--max-length-ratio", "3", "--length-slack", "3", "--max-tokens", "100"),
    *("--no-language-check", "--max-overlap", "off", "--keep-duplicates", "--workers", "1"),
)
"""The rules on subword tokens; collect.py has applied the others."""


def unpack(source: Path, target: Path) -> int:
    """Cuts a compressed file into chunks of lines; returns how many."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with bz2.open(source, "rb") as lines:
        for number in itertools.count():
            block = b"".join(itertools.islice(lines, CHUNK))
            if not block:
                return number
            Path(f"{target}.{number:03d}").write_bytes(block)
    raise AssertionError("unreachable")


def prepare(chunk: Path, direction: tuple[str, str, str], tokenizer: Path, output: Path) -> Path:
    """Numbers one chunk in one direction."""
    source, target, tag = direction
    stem, number = chunk.parent / chunk.stem.rpartition(".")[0], chunk.suffix
    tagged = Path(f"{stem}.{source}-{target}{number}")
    lines = Path(f"{stem}.{source}{number}").read_bytes().split(b"\n")[:-1]
    tagged.write_bytes(b"".join(tag.encode() + b" " + line + b"\n" for line in lines))
    corpus = output / f"{stem.name}.{source}-{target}{number}"
    command = [sys.executable, "-m", "sieve.cli", "prepare", "--pair", str(tagged)]
    command += [f"{stem}.{target}{number}", "--languages", source, target, "--overwrite"]
    command += ["--tokenizer", str(tokenizer), "--output", str(corpus), *OPTIONS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{corpus}: {done.stderr}")
    tagged.unlink()
    return corpus


def number_part(part: Path, pair: Pair, collected: Path, output: Path, jobs: int) -> None:
    """All chunks of a part, both directions; a file `done` says that it is complete."""
    text, corpora = output / "text" / part.name, output / "corpora" / part.name
    started = time.monotonic()
    unpacked: dict[str, list[Future[int]]] = {}
    with ThreadPoolExecutor(jobs) as threads:
        for packed in sorted(part.glob(f"*.{pair.languages[0]}.bz2")):
            group = packed.name.split(".")[0]
            files = [part / f"{group}.{language}.bz2" for language in pair.languages]
            if not files[1].exists():
                continue  # text of one language (borrow.py), which only a teacher can use
            unpacked[group] = [
                threads.submit(in_process, file, text / file.name.removesuffix(".bz2"))
                for file in files
            ]
        counts = {group: [one.result() for one in found] for group, found in unpacked.items()}
        print(f"{part.name}: unpacked in {time.monotonic() - started:.1f} s", flush=True)
        waiting = [
            threads.submit(
                prepare,
                text / f"{group}.{pair.languages[0]}.{number:03d}",
                direction,
                collected / "tokenizer",
                corpora,
            )
            for group, (chunks, _) in counts.items()
            for number in range(chunks)
            for direction in pair.directions()
        ]
        for one in waiting:
            one.result()
    (corpora / "done").touch()
    print(f"{part.name}: {len(waiting)} corpora in {time.monotonic() - started:.1f} s", flush=True)


def in_process(source: Path, target: Path) -> int:
    """Decompression in a process of its own: a thread would share one core."""
    command = [sys.executable, __file__, "--unpack", str(source), str(target)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def write_run(pair: Pair, collected: Path, output: Path, teacher: Path) -> None:
    """The training run's configuration: the teacher's, and the data that are there."""
    corpora = sorted(path.parent for path in (output / "corpora").glob("*/*/corpus.json"))
    repeats = [pair.repeats.get(path.name.split(".")[0], 1) for path in corpora]
    data = {
        "train": [str(path) for path in corpora],
        "repeats": repeats,
        "valid_src": str(collected / "test" / "valid.src"),
        "valid_tgt": str(collected / "test" / "valid.tgt"),
    }
    section = "".join(f"{key} = {json.dumps(value)}\n" for key, value in data.items())
    text = f"{teacher.read_text(encoding='utf-8')}\n[data]\n{section}"
    (output / "run.toml").write_text(text, encoding="utf-8")
    pairs = 0
    for path, repeat in zip(corpora, repeats, strict=True):
        pairs += repeat * int(json.loads((path / "corpus.json").read_text())["pairs"])
    print(f"{len(corpora)} corpora, {pairs} directed pairs an epoch")


def main() -> None:
    if sys.argv[1:2] == ["--unpack"]:
        print(unpack(Path(sys.argv[2]), Path(sys.argv[3])))
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pair", type=Path, help="data.toml")
    parser.add_argument("collected", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    args = parser.parse_args()
    pair = read_pair(args.pair)
    for part in sorted(args.collected.glob("part?")):
        if not (args.output / "corpora" / part.name / "done").exists():
            number_part(part, pair, args.collected, args.output, args.jobs)
    write_run(pair, args.collected, args.output, args.pair.with_name("teacher.toml"))


if __name__ == "__main__":
    main()
