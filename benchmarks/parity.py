"""Imported students beside bergamot: identical outputs, quality, latency in turns, file size.

    python benchmarks/parity.py --output parity.json

Sentences take turns in both engines, a thread each; the load of the machine is written down, and on
a busy one the ratio says little.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from oracles.asking import Oracle, Peer
from oracles.comparing import quality
from oracles.environments import BERGAMOT
from oracles.real_models import firefox, lines_of

from cpu_common import command, machine, ratio, summary
from sieve.files import write_json
from sieve.importers.importing import ImportOptions, import_model
from sieve.importers.origin import Origin
from sieve.translate.load import load

SETS = {
    "en-pt": ("newstest2019.en-de.en", "ntrex128.en-pt.pt"),
    "pt-en": ("ntrex128.en-pt.pt", "ntrex128.en-pt.en"),
}


def measured(pair: str, scratch: Path) -> dict[str, Any]:
    student = firefox(pair)
    lines, references = map(lines_of, SETS[pair])
    directory = scratch / pair
    import_model(Origin(student), directory, ImportOptions(sample=("Yes.",)))
    translator = load(directory, threads=1)
    theirs, ours, their_seconds, our_seconds = [], [], [], []
    settings = {"model": str(student), "shortlist": False, "scores": False}
    with Oracle(Peer(BERGAMOT, "bergamot_oracle", settings)) as oracle:
        for line in [lines[0], *lines]:  # the first warms both
            answers, seconds = oracle.ask([line])
            begin = time.perf_counter()
            text = translator.translate(line, selection="none", beam_size=1, repair=False).text
            our_seconds.append(time.perf_counter() - begin)
            their_seconds.append(seconds)
            theirs.append(answers[0]["text"])
            ours.append(text)
    sides = {"peer": (theirs[1:], their_seconds[1:]), "ours": (ours[1:], our_seconds[1:])}
    return {
        "model": f"firefox {pair}",
        "beside": "bergamot 0.4.5",
        "identical": sum(map(str.__eq__, theirs[1:], ours[1:])) / len(lines),
        "ratio": ratio(their_seconds[1:], our_seconds[1:]),
        **{
            side: {"bleu_chrf": quality(texts, references), "milliseconds": summary(seconds)}
            for side, (texts, seconds) in sides.items()
        },
        "megabytes": {
            "peer": next(student.glob("model*.bin")).stat().st_size / 1e6,
            "ours": (directory / "model.safetensors").stat().st_size / 1e6,
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    output = parser.parse_args().output
    with tempfile.TemporaryDirectory() as scratch:
        rows = [measured(pair, Path(scratch)) for pair in SETS]
    write_json(output, {"command": command(), "machine": machine(), "models": rows})


if __name__ == "__main__":
    main()
