"""Imported models beside the toolkits they came from: outputs, latency in turns, memory, size.

    python benchmarks/parity.py --output parity.json

Sentences take turns in both engines, a thread each; the load of the machine is written down, and on
a busy one the ratio says little.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from oracles.asking import Oracle, Peer
from oracles.comparing import quality
from oracles.environments import BERGAMOT, HUGGING_FACE
from oracles.real_models import firefox, lines_of, opus

from cpu_common import command, machine, ratio, summary
from sieve.files import write_json
from sieve.importers.importing import ImportOptions, import_model
from sieve.importers.origin import Origin
from sieve.translate.load import load

SETS = {
    "en-pt": ("newstest2019.en-de.en", "ntrex128.en-pt.pt"),
    "pt-en": ("ntrex128.en-pt.pt", "ntrex128.en-pt.en"),
}
MEMORY = """
import sys
import sieve
translator = sieve.load(sys.argv[1], threads=1)
for line in open(sys.argv[2], encoding="utf-8"):
    translator.translate(line.rstrip(), selection=sys.argv[3], beam_size=1, repair=False)
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""
"""Translates a file and prints the line of the system that says the most memory it took."""


@dataclass(frozen=True)
class Case:
    """A model, the peer that runs it, and what both are asked."""

    model: str
    beside: str
    source: Path
    peer: Peer
    test: tuple[str, str]
    selection: str = "none"


def cases() -> list[Case]:
    """Those that can be had here."""
    every = []
    for pair, test in SETS.items():
        student = firefox(pair)
        for shortlist, selection in ((False, "none"), (True, "lexicon:100")):
            settings = {"model": str(student), "shortlist": shortlist, "scores": False}
            peer = Peer(BERGAMOT, "bergamot_oracle", settings)
            beside = "bergamot 0.4.5" + (", its shortlist" if shortlist else "")
            every.append(Case(f"Firefox {pair}", beside, student, peer, test, selection))
    model = opus("en-fr")
    settings = {"model": str(model), "kind": "int8", "beam": 1, "scores": False}
    peer = Peer(HUGGING_FACE, "ctranslate2_oracle", settings)
    test = ("newstest2019.en-de.en", "ntrex128.en-fr.fr")
    return [*every, Case("OPUS-MT en-fr", "CTranslate2 4.8.0 int8", model, peer, test)]


def imported(case: Case, scratch: Path) -> Path:
    """The model directory, int8 as the peer's."""
    directory = scratch / case.source.name
    if not directory.exists():
        import_model(Origin(case.source), directory, ImportOptions(form="int8"))
    return directory


def measured(case: Case, scratch: Path) -> dict[str, Any]:
    """Outputs, seconds in turns, and memory of both."""
    lines, references = map(lines_of, case.test)
    directory = imported(case, scratch)
    translator = load(directory, threads=1)
    theirs, ours, their_seconds, our_seconds = [], [], [], []
    with Oracle(case.peer) as oracle:
        for line in [lines[0], *lines]:  # the first warms both
            answers, seconds = oracle.ask([line])
            begin = time.perf_counter()
            written = translator.translate(
                line, selection=case.selection, beam_size=1, repair=False
            )
            our_seconds.append(time.perf_counter() - begin)
            their_seconds.append(seconds)
            theirs.append(answers[0]["text"])
            ours.append(written.text)
        status = Path(f"/proc/{oracle.process}/status").read_text()
        peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    text = scratch / "text"
    text.write_text("\n".join(lines) + "\n", encoding="utf-8")
    child = [sys.executable, "-c", MEMORY, str(directory), str(text), case.selection]
    ours_peak = subprocess.run(child, check=True, capture_output=True, text=True).stdout
    sides = {"peer": (theirs[1:], their_seconds[1:]), "ours": (ours[1:], our_seconds[1:])}
    return {
        "model": case.model,
        "beside": case.beside,
        "selection": case.selection,
        "sentences": len(lines),
        "identical": sum(map(str.__eq__, theirs[1:], ours[1:])) / len(lines),
        "ratio": ratio(their_seconds[1:], our_seconds[1:]),
        **{
            side: {"bleu_chrf": quality(texts, references), "milliseconds": summary(seconds)}
            for side, (texts, seconds) in sides.items()
        },
        "peak_mb": {"peer": int(peak.split()[1]) / 1024, "ours": int(ours_peak.split()[1]) / 1024},
        "file_mb": {
            "peer": sum(path.stat().st_size for path in weights(case)) / 1e6,
            "ours": (directory / "model.safetensors").stat().st_size / 1e6,
        },
    }


def weights(case: Case) -> list[Path]:
    """The files of weights that the peer reads."""
    folder = case.source
    if "kind" in case.peer.settings:
        folder = folder.parent / f"{folder.name}-ctranslate2-{case.peer.settings['kind']}"
    return list(folder.glob("model*.bin"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    output = parser.parse_args().output
    with tempfile.TemporaryDirectory() as scratch:
        rows = [measured(case, Path(scratch)) for case in cases()]
    write_json(output, {"command": command(), "machine": machine(), "models": rows})


if __name__ == "__main__":
    main()
