"""Set a model's operating point on development text, and store a dial with it.

Shifts the biases of the selection head so that shortlists at --threshold hold --size tokens on
average (those of long lines more, by --fall); nothing else changes. Also stores what other
thresholds do, for `--target-recall 0.999` and `--max-shortlist 1024`. Text in the source language
is enough: shortlists are measured against what the model itself writes.

With --fuse, learns how much the model's lexicon (sieve lexicon build -o MODEL) adds
to what the head says, and both together become the model's default selection.

Examples:
  sieve calibrate model-int8 newstest2018.en --output calibrated
  sieve calibrate model-int8 newstest2018.en --size 900 --least 512
  sieve calibrate model-int8 newstest2018.en --fuse
"""

import argparse
import json
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sieve.errors import ModelError
from sieve.selection.dial import DEFAULT_FALL, DEFAULT_THRESHOLD

if TYPE_CHECKING:
    from tqdm import tqdm

    from sieve.selection.lexicon import Lexicon


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `sieve calibrate`."""
    parser.add_argument("model", type=Path, metavar="MODEL", help="model directory to calibrate")
    parser.add_argument("text", type=Path, metavar="TEXT", help="development text to translate")
    numbers = [
        ("--size", int, 1000, "N", "mean shortlist size, at most"),
        ("--recall", float, 1.0, "R",
         "choose smaller shortlists if they hold this share of the model's own output tokens"),
        ("--threshold", float, DEFAULT_THRESHOLD, "LAMBDA",
         "threshold that becomes the model's default"),
        ("--least", int, 512, "N", "minimum shortlist size; short sentences need it"),
        ("--fall", float, DEFAULT_FALL, "F",
         "log-odds by which the threshold falls for each source token beyond 25"),
        ("--threads", int, None, "N", "sentences in parallel"),
        ("--limit", int, 0, "N", "use only the first N lines of TEXT; 0: all"),
    ]  # fmt: skip
    for name, kind, value, metavar, text in numbers:
        text = text if value is None else f"{text} (default: %(default)s)"
        parser.add_argument(name, type=kind, default=value, metavar=metavar, help=text)
    parser.add_argument(
        "--fuse", action="store_true", help="select by the head and the model's lexicon together"
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="DIR", help="where to write (default: MODEL itself)"
    )


def execute(arguments: argparse.Namespace) -> None:
    """Calibrates, writes the directory and prints the operating point."""
    from sieve.bundle.directory import open_bundle
    from sieve.data.reading import read_lines
    from sieve.engines.native.native_engine import NativeEngine
    from sieve.importers.opening import changeable_directory
    from sieve.log import progress
    from sieve.tokenize.tokenizer import source_ids
    from sieve.train.calibrate import CalibrationOptions, calibrate, store

    options = CalibrationOptions(
        arguments.threshold,
        arguments.size,
        arguments.recall,
        arguments.least,
        fall=arguments.fall,
    )
    model = changeable_directory(arguments.model, arguments.output)
    bundle = open_bundle(model)
    lexicon = _lexicon(model) if arguments.fuse else None
    lines = [line for line in islice(read_lines(arguments.text), arguments.limit or None) if line]
    engine = NativeEngine.open(bundle, threads=arguments.threads)
    ids = source_ids(bundle.tokenizers().source, lines)
    bar: tqdm[None] = progress(total=2 * len(lines), unit="lines", label="calibrating")

    def advance(done: int) -> None:
        bar.update(done)

    with bar:
        calibration = calibrate(engine, ids, options, advance, lexicon)
    output = arguments.output or model
    store(model, output, calibration)
    note: dict[str, Any] = {
        "model": str(output),
        "shift": round(calibration.shift, 4),
        "mean_words": round(calibration.own.mean_size, 1),
        "own_recall": round(100 * calibration.own.recall, 2),
        "sentences": len(lines),
    }
    if calibration.fusion is not None:
        note["bonus"] = [round(value, 2) for value in calibration.fusion.bonus]
    print(json.dumps(note))


def _lexicon(model: Path) -> "Lexicon":
    """The lexicon in a model's directory."""
    from sieve.selection.lexicon_files import own_lexicon

    lexicon = own_lexicon(model)
    if lexicon is None:
        raise ModelError(
            f"{model}: has no lexicon.safetensors to add to its head; make one with "
            f"sieve lexicon build CORPUS -o {model}"
        )
    return lexicon
