"""Stage 3, distil: a model translates the sources of all training text, in pieces.

    python recipes/common/distil.py recipes/en-de/data.toml COLLECTED MODEL WORK --from en --to de

COLLECTED holds what collect.py wrote. Writes WORK/NNN.de and WORK/NNN.de.scores.npy for each piece
NNN of the text in WORK/../text (cut there if it is not yet). A piece that is there is not done
again; with --max-minutes no piece is begun that would not end in time. Of the five best outputs
the one nearest to the reference is kept (--choose score, or without references: the model's best).

A model of both directions is told by a tag which way to go; with --untagged, for the outputs of a
student of one direction, it is not.
"""

import argparse
import json
import multiprocessing
import os
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from distil_text import NBest, Sentences, Side, chosen, cut, files_of, number_source, write
from pair import read_pair

CHUNK = 8192  # sentences among whose outputs one process chooses
AHEAD = 3  # pieces numbered before they are needed
MAX_LENGTH_FACTOR = 1.5  # of an output's tokens to its source's, and ten more
PIECE_BYTES = 3_000_000  # of compressed text of both languages that make a piece: 80,000 pairs


def cut_all(pool: ProcessPoolExecutor, collected: Path, text: Path, limit: int) -> list[int]:
    """Cuts the parts that are there into pieces, part1 into 100, 101, ...; all pieces."""
    parts = sorted(path for path in collected.glob("part?") if any(path.glob("*.bz2")))
    if not parts:
        raise SystemExit(f"{collected}: no part1/GROUP.LANGUAGE.bz2: run collect.py first")
    found: list[int] = []
    for part in parts:
        first, note = 100 * int(part.name[-1]), text / f"{part.name}.json"
        if not note.exists():
            packed = sorted(part.glob("*.bz2"))
            size = sum(path.stat().st_size for path in packed)
            pieces = range(first, first + max(1, round(size / PIECE_BYTES)))
            if limit:
                pieces = range(first, first + 2)
            work = partial(cut, output=text, pieces=pieces, limit=limit)
            counts = dict(zip([path.name for path in packed], pool.map(work, packed), strict=True))
            note.write_text(json.dumps({"pieces": len(pieces), "lines": counts}) + "\n")
        found += range(first, first + int(json.loads(note.read_text())["pieces"]))
    return sorted(found, key=lambda piece: (piece % 100, piece))  # who stops early has all parts


def numbered(
    pool: ProcessPoolExecutor, source: Side, pieces: list[int]
) -> Iterator[tuple[int, Sentences]]:
    """Pieces with their sources; the first few are under way when this returns."""
    waiting = [pool.submit(number_source, source, piece) for piece in pieces[:AHEAD]]

    def each() -> Iterator[tuple[int, Sentences]]:
        for place, piece in enumerate(pieces):
            sentences = waiting.pop(0).result()
            waiting.extend(
                pool.submit(number_source, source, following)
                for following in pieces[place + AHEAD : place + AHEAD + 1]
            )
            yield piece, sentences

    return each()


def finish(
    pool: ProcessPoolExecutor, found: NBest, references: Side | None, model: Path, output: Path
) -> None:
    """Chooses among outputs in many processes, then writes them."""
    piece = int(output.name.split(".")[0])
    parts = [
        pool.submit(chosen, found.part(at, at + CHUNK), at, piece, references, model)
        for at in range(0, len(found.scores), CHUNK)
    ]
    results = [part.result() for part in parts]
    lines = [line for text, _ in results for line in text]
    write(output, lines, np.concatenate([scores for _, scores in results]))


def open_model(model: Path, args: argparse.Namespace):  # type: ignore[no-untyped-def]
    """The model, ready for many sentences; torch is imported here, not in the processes."""
    import torch
    from bulk import Bulk, BulkOptions

    from sieve.engines.options import SearchOptions
    from sieve.engines.torch.torch_engine import TorchEngine
    from sieve.model.checkpoint import load_model

    on_gpu = torch.cuda.is_available()
    loaded = load_model(model, "cuda" if on_gpu else "cpu")
    engine = TorchEngine(loaded, "bfloat16" if on_gpu else "float32", graphs=False)
    n_best = args.beam if args.choose == "reference" else 1
    search = SearchOptions(beam_size=args.beam, n_best=n_best, max_length_factor=MAX_LENGTH_FACTOR)
    options = BulkOptions(search, args.batch_tokens, args.batch_sentences, not args.move_past)
    return Bulk(engine, options)


def main() -> None:
    args = arguments()
    pair = read_pair(args.pair)
    tags = {target: tag for _, target, tag in pair.directions()}
    text = args.text or args.output.parent / "text"
    source = Side(text, args.source, args.model, "" if args.untagged else tags[args.target])
    references = replace(source, language=args.target) if args.choose == "reference" else None
    args.output.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    context = multiprocessing.get_context("spawn")
    with (
        ProcessPoolExecutor(args.jobs, mp_context=context) as pool,
        ThreadPoolExecutor(4) as threads,
    ):
        pieces = cut_all(pool, args.collected, text, args.limit)
        print(f"{len(pieces)} pieces after {time.monotonic() - started:.1f} s", flush=True)
        if args.cut_only:
            return
        outputs = {p: args.output / f"{p:03d}.{args.target}" for p in pieces}
        left = [
            piece
            for piece, path in outputs.items()
            if not path.exists() and files_of(text, piece, args.source)
        ]
        todo = left[: args.most or None]
        sources = numbered(pool, source, todo)
        bulk = open_model(args.model, args) if todo else None
        written = []
        slowest = 0.0
        for piece, sentences in sources:
            now = time.monotonic()
            if args.max_minutes and now + slowest > started + 60 * args.max_minutes:
                print(f"out of time before piece {piece}", flush=True)
                break
            found: NBest = bulk.translate(sentences)
            seconds = time.monotonic() - now
            slowest = max(slowest, seconds)
            work = (pool, found, references, args.model, outputs[piece])
            written.append(threads.submit(finish, *work))
            rate = len(sentences) / seconds
            tokens = int(found.outputs.lengths[:: found.scores.shape[1]].sum() / seconds)
            print(
                f"piece {piece}: {len(sentences)} sentences in {seconds:.1f} s, {rate:.0f} a second"
                f" ({tokens} tokens), {time.monotonic() - started:.0f} s in all",
                flush=True,
            )
        for one in written:
            one.result()
    done = sum(path.exists() for path in outputs.values())
    print(f"{done} of {len(pieces)} pieces after {time.monotonic() - started:.1f} s", flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pair", type=Path, help="data.toml")
    parser.add_argument("collected", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("output", type=Path, metavar="WORK")
    parser.add_argument("--from", dest="source", required=True, metavar="LANGUAGE")
    parser.add_argument("--to", dest="target", required=True, metavar="LANGUAGE")
    parser.add_argument("--text", type=Path, help="pieces of text (WORK/../text)")
    parser.add_argument("--untagged", action="store_true")
    parser.add_argument("--cut-only", action="store_true", help="cut the text into pieces, no more")
    parser.add_argument("--choose", choices=("reference", "score"), default="reference")
    parser.add_argument("--beam", type=int, default=5)
    parser.add_argument("--most", type=int, default=0, help="pieces to do now")
    parser.add_argument("--limit", type=int, default=0, help="lines of each file, for a trial")
    parser.add_argument("--max-minutes", type=float, default=0)
    parser.add_argument("--batch-tokens", type=int, default=65_536)
    parser.add_argument("--batch-sentences", type=int, default=2048)
    parser.add_argument("--move-past", action="store_true", help="the engine's own steps")
    parser.add_argument("--jobs", type=int, default=max(1, len(os.sched_getaffinity(0)) - 2))
    return parser.parse_args()


if __name__ == "__main__":
    main()
