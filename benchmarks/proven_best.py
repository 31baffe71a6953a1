"""What a proof of the best token would compute, and what bounds a lossless beam.

Greedy: states of a model's own greedy translations, turned into a basis in which few dimensions
hold most of a logit (learnt on newstest2018); after each stage of dimensions, tokens whose bound
(Cauchy–Schwarz on the dimensions left) is below a logit that was computed are out. Counted on
newstest2019: what is left, and products done of all. The best token must never be out.

Beam: search over a set that lacks no token, and what checking all its rows against all tokens in
one product would add, from what greedy lossless search pays for a row: the least that drafting with
a set and checking takes, had the draft always been right.

  python benchmarks/proven_best.py --data DATA --models en-de WORK/en-pt WORK/en-fr
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from cpu_common import command, machine, note
from sieve.bundle.catalogue import built_in
from sieve.engines.native.native_engine import NativeEngine
from sieve.engines.options import SearchOptions
from sieve.files import write_json
from sieve.selection.plan import Plan, Selector
from sieve.selection.selectors import FullVocabulary
from sieve.selection.shortlist import Shortlist
from sieve.tokenize.vocabulary import IntArray
from sieve.translate.load import load

GREEDY, BEAM = SearchOptions(beam_size=1), SearchOptions()
SHARES = (1 / 4, 1 / 8, 1 / 8, 1 / 4)
GROUPS = (1, 16, 64)
RIDGE, FREQUENT = 0.1, 900
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Given:
    """The same set for every sentence of a call."""

    ids: tuple[int, ...]

    def plan(self) -> Plan:
        """That set."""
        return Plan.given([Shortlist.of(self.ids)])


def states_of(name: str, engine: NativeEngine, ids: Sequence[IntArray]) -> tuple[Floats, Any]:
    """Decoder states of all steps of greedy translations (N, D), and the model in float32."""
    model = load(name, engine="torch").engine.model  # type: ignore[attr-defined]
    specials = engine.specials
    found = []
    with torch.inference_mode():
        for source in ids:
            [[best]] = engine.translate([source], FullVocabulary(), GREEDY)
            target = torch.tensor([[specials.first, *best.tokens]])
            memory, mask = model.encode(torch.as_tensor(source, dtype=torch.long)[None])
            found.append(model.decode(target, memory, mask)[0].double().numpy())
    return np.concatenate(found), model


def turned(weights: Floats, learnt: Floats) -> tuple[Floats, Floats]:
    """(A, B): weights @ A and states @ B have the products of weights and states."""
    D = learnt.shape[1]
    covariance = np.cov(learnt.T)
    root = np.linalg.cholesky(covariance + RIDGE * np.trace(covariance) / D * np.eye(D))
    part = weights @ root
    energy, directions = np.linalg.eigh(part.T @ part)
    energy, directions = np.maximum(energy[::-1], 1e-9 * energy[-1]), directions[:, ::-1]
    A = root @ directions * energy**-0.25
    return A, np.linalg.inv(A).T


def cascade(weights: Floats, bias: Floats, learnt: Floats, states: Floats) -> dict[str, Any]:
    """What is left after each stage, in percent of the tokens and of groups of them."""
    V, D = weights.shape
    logits = states @ weights.T + bias
    best = logits.argmax(axis=1)
    top = np.take_along_axis(logits, best[:, None], 1)[:, 0]
    A, B = turned(weights, learnt)
    centre = learnt.mean(axis=0)
    heavy, light = weights @ A, (states - centre) @ B
    sums = np.tile(bias + weights @ centre, (len(states), 1))
    goal, left = np.full(len(states), -np.inf), np.ones((len(states), V), bool)
    first, done, rows = 0, dict.fromkeys(GROUPS, 0.0), []
    order: Any = None
    for share in SHARES:
        end = first + max(32, round(D * share / 32) * 32)
        for size in GROUPS:
            done[size] += (
                (end - first) / D * (1.0 if order is None else grouped(left[:, order], size))
            )
        sums += light[:, first:end] @ heavy[:, first:end].T
        aimed = np.where(left, sums, -np.inf).argmax(axis=1)
        goal = np.maximum(goal, np.take_along_axis(logits, aimed[:, None], 1)[:, 0])
        reach = np.linalg.norm(heavy[:, end:], axis=1)
        rest = np.linalg.norm(light[:, end:], axis=1)
        left &= sums + rest[:, None] * reach >= goal[:, None] - 1e-6 * np.abs(top[:, None])
        if order is None:  # tokens alike in what they can reach are neighbours
            order = np.argsort(-(bias + weights @ centre + rest.mean() * reach))
        rows.append(
            {"dimensions": end, **{str(n): percent(grouped(left[:, order], n)) for n in GROUPS}}
        )
        first = end
    if not np.take_along_axis(left, best[:, None], 1).all():
        raise AssertionError("a bound excluded the best token")
    return {"left": rows, "products": {str(n): percent(share) for n, share in done.items()}}


def grouped(left: npt.NDArray[np.bool_], size: int) -> float:
    """Share of groups of tokens with one that is left."""
    room = -left.shape[1] % size
    return float(np.pad(left, ((0, 0), (0, room))).reshape(len(left), -1, size).any(2).mean())


def percent(share: float) -> float:
    return round(100 * share, 2)


def times(engine: NativeEngine, ids: Sequence[IntArray], repeats: int) -> dict[str, Any]:
    """Milliseconds of CPU time a sentence, the best of the rounds; searches in turn."""
    everything = FullVocabulary()
    sets = []
    for source in ids:
        [[a]], [[b]] = (engine.translate([source], everything, one) for one in (GREEDY, BEAM))
        sets.append(Given(tuple(sorted({*range(FREQUENT), *a.tokens, *b.tokens}))))
    searches: dict[str, tuple[bool, SearchOptions]] = {
        "greedy, all": (True, GREEDY),
        "greedy, set": (False, GREEDY),
        "greedy, lossless": (False, replace(GREEDY, lossless=True)),
        "beam, all": (True, BEAM),
        "beam, set": (False, BEAM),
    }
    taken = {name: np.zeros((repeats, len(ids))) for name in searches}
    steps = dict.fromkeys(searches, 0.0)
    for number in range(repeats):
        for row, (source, own) in enumerate(zip(ids, sets, strict=True)):
            for name, (whole, options) in searches.items():
                chosen: Selector = everything if whole else own
                begin = time.thread_time()
                _, [timing] = engine.translate_timed([source], chosen, options)
                taken[name][number, row] = 1000 * (time.thread_time() - begin)
                steps[name] += timing.steps / repeats / len(ids)
    ms = {name: float(all_.min(axis=0).mean()) for name, all_ in taken.items()}
    checked = (ms["greedy, lossless"] - ms["greedy, set"]) / steps["greedy, lossless"]
    beam = checked * BEAM.rows * steps["beam, all"]
    return {
        "ms": {name: round(value, 3) for name, value in ms.items()},
        "steps": {name: round(value, 2) for name, value in steps.items()},
        "checking a row": round(checked, 4),
        "all / lossless, greedy": round(ms["greedy, all"] / ms["greedy, lossless"], 3),
        "lossless / set, greedy": round(ms["greedy, lossless"] / ms["greedy, set"], 3),
        "least of a lossless beam / all": round((ms["beam, set"] + beam) / ms["beam, all"], 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="directory with test/")
    parser.add_argument("--models", nargs="+", default=["en-de"], help="that translate English")
    parser.add_argument("--learnt", type=int, default=130, help="sentences for the basis")
    parser.add_argument("--counted", type=int, default=40)
    parser.add_argument("--timed", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output", type=Path, default=Path("docs/results/proven_best.json"))
    args = parser.parse_args()
    test = args.data / "test"
    result: dict[str, Any] = {"command": command(), "machine": machine(), "models": []}
    for name in args.models:
        translator = load(name, threads=1)
        engine = translator.engine
        assert isinstance(engine, NativeEngine)
        old, new = (
            [
                np.array([*ids, engine.specials.eos])
                for ids in translator.tokenizers.source.encode(
                    (test / f"newstest{year}.en-de.en").read_text("utf-8").splitlines()[:number]
                )
            ]
            for year, number in ((2018, args.learnt), (2019, args.counted))
        )
        learnt, model = states_of(name, engine, old)
        counted, _ = states_of(name, engine, new)
        weights = model.output.weight.detach().double().numpy()
        bias = model.output.bias.detach().double().numpy().copy()
        bias[list(engine.config.never)] = -1e9
        config = engine.config
        few = counted[np.random.default_rng(0).permutation(len(counted))[:300]]
        row = {
            "model": name if name in built_in() else Path(name).name,
            "dimensions": [config.d_model, config.d_ff, config.tgt_vocab_size],
            "decoder_layers": config.decoder_layers,
            "states": {"learnt": len(learnt), "counted": len(few)},
            "sentences": {"timed": args.timed, "rounds": args.repeats},
            "greedy": cascade(weights, bias, learnt, few),
            "times": times(engine, new[: args.timed], args.repeats),
        }
        note(f"{row}")
        result["models"].append(row)
    write_json(args.output, result)


if __name__ == "__main__":
    main()
