"""Student, first step: distilled text into numbered, aligned corpora, on all cores.

    python recipes/common/student_corpora.py recipes/en-de/data.toml WORK --from en --to de \
        --tokenizer TOKENIZER --aligner aligner.npz --valid VALID

WORK holds text/ and distilled.en-de/ of distil.py. For each piece that was distilled it writes,
under WORK/corpora.en-de,

    distilled.GROUP.NNN    sources with the teacher's outputs, without the bad ones
    original.GROUP.NNN     the same sources with their references
    copied.GROUP.NNN       some of the distilled pairs with other numbers, names and addresses
    fragments.GROUP.NNN    phrases cut out of distilled pairs, some in lower case: for the head

and, with an aligner, .align files beside those that the student is trained on: all distilled and
copied ones and the originals of the groups that data.toml repeats. VALID.en and VALID.de are the
validation text. WORK/student.en-de.toml, settle.en-de.toml and head.en-de.toml become the
configurations of the three runs. The head learns from the student's own outputs where
WORK/own.en-de holds them (distil.py with the student as MODEL), else from its teacher's, from
references and from phrases.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from copies import copies
from distil_text import files_of
from outputs import refused_by
from pair import Pair, read_pair

OPTIONS = (
    *("--max-length-ratio", "3", "--length-slack", "3", "--max-tokens", "100"),
    *("--no-language-check", "--max-overlap", "off", "--keep-duplicates", "--workers", "1"),
)
OWN = 3  # times a pair of the student's own outputs counts for the head
WORST = 0.02  # share of outputs, those with the lowest mean log-probability, that are left out


@dataclass(frozen=True)
class Job:
    """What a process is told."""

    work: str
    piece: int
    source: str
    target: str
    tokenizer: str
    aligner: str
    """"" for none."""
    turned: bool
    """The aligner's first language is the target."""
    aligned: tuple[str, ...]
    """Groups whose originals are aligned."""

    @property
    def direction(self) -> str:
        """As in the names of files."""
        return f"{self.source}-{self.target}"

    @property
    def corpora(self) -> Path:
        """Where they go."""
        return Path(self.work) / f"corpora.{self.direction}"


Lines = list[str]
Scores = npt.NDArray[np.float32]


def read(path: Path) -> Lines:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def read_scores(output: Path) -> Scores:
    """Of each line of a piece's outputs; all the same where they did not come along."""
    path = Path(f"{output}.scores.npy")
    if not path.exists():
        return np.zeros(len(read(output)), np.float32)
    return np.maximum(np.load(path).astype(np.float32), -100.0)


def good_pairs(
    sources: Lines, outputs: Lines, references: Lines, scores: Scores, floor: float
) -> tuple[Lines, Lines, Counter[str]]:
    """Sources and outputs to learn from, and how many each rule refused."""
    kept: tuple[Lines, Lines] = ([], [])
    refused: Counter[str] = Counter()
    ratio = sum(map(len, outputs)) / max(1, sum(map(len, sources)))
    rows = zip(sources, outputs, references, scores.tolist(), strict=True)
    for source, output, reference, score in rows:
        rule = refused_by(source, output, reference, ratio)
        rule = rule or ("score" if score < floor else None)
        if rule:
            refused[rule] += 1
        else:
            kept[0].append(source)
            kept[1].append(output)
    return (*kept, refused)


def number(job: Job, name: str, sides: tuple[Lines, Lines], aligned: bool) -> int:
    """One corpus: `sieve prepare`, and its alignments; what is there already stays."""
    from sieve.data.corpus import Corpus

    corpus = job.corpora / f"{name}.{job.piece:03d}"
    links_file = corpus.with_name(f"{corpus.name}.align")
    aligned = aligned and bool(job.aligner)
    if (corpus / "corpus.json").exists() and (links_file.exists() or not aligned):
        return Corpus.open(corpus).num_pairs
    if not sides[0]:
        return 0
    texts = [corpus.with_name(f"{corpus.name}.{side}.txt") for side in ("src", "tgt")]
    for path, lines in zip(texts, sides, strict=True):
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    command = [sys.executable, "-m", "sieve.cli", "prepare", "--pair", *map(str, texts)]
    command += ["--languages", job.source, job.target, "--overwrite", "--tokenizer", job.tokenizer]
    command += ["--output", str(corpus), *OPTIONS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{corpus}: {done.stderr}")
    for path in texts:
        path.unlink()
    opened = Corpus.open(corpus)
    if aligned:
        from aligner import open_aligner

        from sieve.data.alignments import write_pharaoh

        links = open_aligner(Path(job.aligner), job.turned).align(opened)
        write_pharaoh(links_file, links)
    return opened.num_pairs


def work_on(job: Job) -> dict[str, object]:
    """All corpora of a piece."""
    work = Path(job.work)
    job.corpora.mkdir(parents=True, exist_ok=True)
    files = files_of(work / "text", job.piece, job.source)
    groups = sorted({path.name.split(".")[0] for path in files})
    found: dict[str, object] = {"piece": job.piece}
    refused: Counter[str] = Counter()
    for kind in ("distilled", "own"):
        output = work / f"{kind}.{job.direction}" / f"{job.piece:03d}.{job.target}"
        if not output.exists():
            continue
        lines, scores = read(output), read_scores(output)
        floor = float(np.quantile(scores, WORST)) if kind != "own" else -math.inf
        for group in groups:
            sources, references, places = _group(job, files, group)
            outputs = [lines[i] for i in places]
            *pairs, bad = good_pairs(sources, outputs, references, scores[places], floor)
            refused += bad
            found[f"{kind}.{group}"] = number(
                job, f"{kind}.{group}", (pairs[0], pairs[1]), kind == "distilled"
            )
            if kind == "distilled":
                name = f"copied.{group}"
                found[name] = number(job, name, copies(pairs[0], pairs[1], job.piece), True)
                name = f"original.{group}"
                sides = (sources, references)
                found[name] = number(job, name, sides, group in job.aligned)
    if job.aligner and _has(job, "own", job.piece):
        found |= {f"fragments.{group}": number_fragments(job, group) for group in groups}
    return {**found, "refused": dict(refused)}


def number_fragments(job: Job, group: str) -> int:
    """Phrases from the distilled pairs of a group, if there are any."""
    from fragments import fragments

    from sieve.data.alignments import read_pharaoh
    from sieve.data.corpus import Corpus

    corpus = job.corpora / f"distilled.{group}.{job.piece:03d}"
    name = f"fragments.{group}"
    if not (corpus / "corpus.json").exists():
        return 0
    links = read_pharaoh(corpus.with_name(f"{corpus.name}.align"))
    return number(job, name, fragments(Corpus.open(corpus), links, job.piece), aligned=False)


def _group(job: Job, files: list[Path], group: str) -> tuple[Lines, Lines, list[int]]:
    """Sources and references of a group, and the places of its lines in the piece."""
    sources: Lines = []
    references: Lines = []
    places: list[int] = []
    start = 0
    for path in files:
        lines = read(path)
        if path.name.split(".")[0] == group:
            sources += lines
            references += read(path.with_suffix(f".{job.target}"))
            places += range(start, start + len(lines))
        start += len(lines)
    return sources, references, places


def write_runs(pair: Pair, job: Job, recipe: Path, valid: Path) -> None:
    """The configurations of the student's and of its head's training."""
    valid_lines = {
        "valid_src": f"{valid}.{job.source}",
        "valid_tgt": f"{valid}.{job.target}",
    }
    found = sorted(path.parent for path in job.corpora.glob("*/corpus.json"))
    repeats = [_repeats(pair, path.name) for path in found]
    chosen = [(path, repeat) for path, repeat in zip(found, repeats, strict=True) if repeat]
    data: dict[str, object] = {
        "train": [str(path) for path, _ in chosen],
        "repeats": [repeat for _, repeat in chosen],
        **valid_lines,
    }
    if job.aligner:
        data["alignments"] = [f"{path}.align" for path, _ in chosen]
    stages = Path(__file__).parent  # what follows the student's own run is the same for all pairs
    for run, folder in (("student", recipe), ("settle", stages)):
        _write(Path(job.work) / f"{run}.{job.direction}.toml", folder / f"{run}.toml", data)
    own = {path.name.removeprefix("own.") for path in found if path.name.startswith("own.")}
    weights = [_weight_in_head(pair, path.name, own) for path in found]
    mixed = [(path, weight) for path, weight in zip(found, weights, strict=True) if weight]
    data = {
        "train": [str(path) for path, _ in mixed],
        "repeats": [weight for _, weight in mixed],
        **valid_lines,
    }
    _write(Path(job.work) / f"head.{job.direction}.toml", stages / "head.toml", data)


def _weight_in_head(pair: Pair, name: str, own: set[str]) -> int:
    """How often a corpus counts in the head's training, 0 for not at all.

    What the student itself wrote counts most; where it wrote nothing its teacher's outputs stand
    for it. References of every second piece, and phrases, keep the head open for other words.
    """
    kind, group, piece = name.split(".")
    repeats = pair.repeats.get(group, 1)
    written = f"{group}.{piece}" in own
    chosen = {
        "own": OWN,
        "distilled": int(not written),
        "original": int(written or int(piece) % 2 == 0),
        "fragments": 1,
    }
    return repeats * chosen.get(kind, 0)


def _repeats(pair: Pair, name: str) -> int:
    """How often a corpus counts in the student's training: 0 for what only the head sees.

    Of a group that is repeated N times, once goes to the references and the rest to the teacher.
    """
    kind, group = name.split(".")[:2]
    repeats = pair.repeats.get(group, 1)
    if kind == "original":
        return int(repeats > 1)
    return {"distilled": max(1, repeats - 1), "copied": 1}.get(kind, 0)


def _write(path: Path, recipe: Path, data: dict[str, object]) -> None:
    section = "".join(f"{key} = {json.dumps(value)}\n" for key, value in data.items())
    text = recipe.read_text(encoding="utf-8")
    path.write_text(f"{text}\n[data]\n{section}", encoding="utf-8")


def main() -> None:
    if sys.argv[1:2] == ["--job"]:
        print(json.dumps(work_on(Job(**_tuples(json.loads(sys.argv[2]))))))
        return
    args = arguments()
    pair = read_pair(args.pair)
    started = time.monotonic()
    turned = args.source != pair.languages[0]
    aligned = tuple(group for group, repeats in pair.repeats.items() if repeats > 1)
    job = Job(
        str(args.work), 0, args.source, args.target, str(args.tokenizer),
        str(args.aligner or ""), turned, aligned,
    )  # fmt: skip
    done = job.corpora / ".done"
    done.mkdir(parents=True, exist_ok=True)
    pieces = {
        int(path.name.split(".")[0])
        for kind in ("distilled", "own")
        for path in (args.work / f"{kind}.{job.direction}").glob(f"???.{args.target}")
    }
    # a piece is worked on again when the student's own outputs have come
    names = {p: f"{p:03d}.own" if _has(job, "own", p) else f"{p:03d}" for p in pieces}
    left = sorted(piece for piece in pieces if not (done / names[piece]).exists())
    with ThreadPoolExecutor(args.jobs) as threads:
        jobs = [Job(**{**job.__dict__, "piece": piece}) for piece in left]
        for one, counts in zip(jobs, threads.map(in_process, jobs), strict=True):
            (done / names[one.piece]).write_text(json.dumps(counts) + "\n")
            print(json.dumps(counts), flush=True)
    recipe = args.recipe or args.pair.parent
    write_runs(pair, job, recipe, args.valid)
    print(f"{len(left)} pieces numbered in {time.monotonic() - started:.1f} s")


def in_process(job: Job) -> dict[str, object]:
    """A piece in a process of its own."""
    command = [sys.executable, __file__, "--job", json.dumps(job.__dict__)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"piece {job.piece}: {done.stderr}")
    return dict(json.loads(done.stdout))


def _tuples(values: dict[str, object]) -> dict[str, object]:
    return {key: tuple(v) if isinstance(v, list) else v for key, v in values.items()}


def _has(job: Job, kind: str, piece: int) -> bool:
    return (Path(job.work) / f"{kind}.{job.direction}" / f"{piece:03d}.{job.target}").exists()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pair", type=Path, help="data.toml")
    parser.add_argument("work", type=Path)
    parser.add_argument("--from", dest="source", required=True, metavar="LANGUAGE")
    parser.add_argument("--to", dest="target", required=True, metavar="LANGUAGE")
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--aligner", type=Path)
    parser.add_argument("--valid", type=Path, required=True, help="VALID.en and VALID.de")
    parser.add_argument("--recipe", type=Path, help="folder of the runs' settings")
    parser.add_argument("--jobs", type=int, default=max(1, len(os.sched_getaffinity(0)) - 3))
    return parser.parse_args()


if __name__ == "__main__":
    main()
