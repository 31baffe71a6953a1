"""What translations keep of their sources: numbers, placeholders, markup, addresses, other scripts.

    python benchmarks/fidelity.py en-de de-en --run now
    python benchmarks/fidelity.py en-de --half open --show    # what is lost, while building

Lines come from templates in four languages and from people (benchmarks/kept). Half of them are held
out: nothing may be built with a look at them. Each run of a name is a part of the output file.
Imported models (a directory or a hub name) search greedily, built-in ones with their own beam.
"""

import argparse
import subprocess
import time
from pathlib import Path
from typing import Any

from cpu_common import machine, note
from kept.collecting import collected, written
from kept.counting import tally
from kept.generating import HALVES, Case, generate
from sieve.bundle.catalogue import built_in
from sieve.files import read_json, write_json
from sieve.translate.load import load
from sieve.translate.translator import Translator

ROOT = Path(__file__).parents[1]
SETS = ROOT / "benchmarks" / "kept"
DATA = ROOT.parent / "shared" / "data"
Sources = dict[str, list[Case]]


def sources(language: str, halves: list[str], data: Path) -> Sources:
    """The lines of a language by set: each half, and what was collected from `data`."""
    sets = {
        half: [*generate(SETS, half, language), *written(SETS, half, language)] for half in halves
    }
    lines = list(collected(data, language))
    return sets | ({"collected": lines} if lines else {})


def measured(translator: Translator, beam: int | None, sets: Sources, show: bool) -> dict[str, Any]:
    """Every set, with the repairs and without."""
    result: dict[str, Any] = {}
    for name, cases in sets.items():
        lines = [case.source for case in cases]
        for way, repair in (("with repairs", True), ("without", False)):
            begin = time.process_time()
            translations = translator.translate(lines, beam_size=beam, repair=repair)
            seconds = time.process_time() - begin
            outputs = [translation.text for translation in translations]
            counts = tally(cases, outputs, translator.languages)
            result.setdefault(name, {})[way] = {"lines": len(lines)} | without_examples(counts)
            shares = {kind: each["share"] for kind, each in counts["all"].items()}
            note(f"  {name}, {way}: {shares} {counts['faults']} ({seconds:.0f} s)")
            if show and repair and name != "heldout":
                show_lost(counts)
    return result


def without_examples(counts: dict[str, Any]) -> dict[str, Any]:
    """Counts alone: result files hold neither lines of corpora nor held-out ones.

    Of a category: how many numbers or strings were kept, and how many there were.
    """
    return {
        "categories": {
            category: f"{each['kept']} of {each['wanted']}"
            for category, each in counts["categories"].items()
            if each["wanted"]
        },
        "all": {
            kind: {key: value for key, value in each.items() if key != "lost"}
            for kind, each in counts["all"].items()
        },
        "faults": counts["faults"],
    }


def show_lost(counts: dict[str, Any]) -> None:
    for category, each in counts["categories"].items():
        note(f"    {category}: {each['share']}")
        for source, output, missing in each["lost"]:
            note(f"      {source}\n      {output}\n      -> {missing}")
    for fault, examples in counts["examples of faults"].items():
        note(f"    {fault}")
        for source, output in examples:
            note(f"      {source}\n      {output}")


def commit() -> str:
    revision = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    return subprocess.run(revision, capture_output=True, text=True, check=False).stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="+", metavar="MODEL", help="anything that sieve.load opens")
    parser.add_argument("--run", default="now", help="name of this run in the output")
    parser.add_argument("--half", choices=HALVES, help="one half alone; nothing is written")
    parser.add_argument("--show", action="store_true", help="print what was lost")
    parser.add_argument("--data", type=Path, default=DATA, help="holds test/ and train/")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "results" / "fidelity.json")
    args = parser.parse_args()
    halves = [args.half] if args.half else list(HALVES)
    models: dict[str, Any] = {}
    for model in args.models:
        translator = load(model)
        sets = sources(translator.languages[0], halves, args.data)
        beam = None if model in built_in() else 1
        note(f"{model}: {sum(map(len, sets.values()))} lines")
        models[Path(model).name] = measured(translator, beam, sets, args.show)
    if args.half:
        return
    content = read_json(args.output) if args.output.exists() else {"states": {}}
    run = content["states"].setdefault(args.run, {"models": {}})
    run["models"] |= models
    names = " ".join(run["models"])
    run["command"] = f"python benchmarks/fidelity.py {names} --run {args.run}"
    run |= {"machine": machine(), "commit": commit()}
    write_json(args.output, content)


if __name__ == "__main__":
    main()
