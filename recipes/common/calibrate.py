"""Stage 6, int8, second step: λ = 0.9 becomes the operating point of a model.

    python recipes/common/calibrate.py MODEL newstest2018.en --size 900 --output CALIBRATED

Shifts the biases of the selection head so that sets at λ hold at most --size words on average on
the development text, fewer where --recall of the model's own output words is reached with fewer.
"""

import argparse
import json
from itertools import islice
from pathlib import Path

from sieve.bundle import open_bundle
from sieve.inference.native_engine import NativeEngine
from sieve.text.reading import read_lines
from sieve.training.calibrate import CalibrationOptions, calibrate, shift_bias, with_eos


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path)
    parser.add_argument("text", type=Path, help="development text in the source language")
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--recall", type=float, default=1.0)
    parser.add_argument("--threshold", type=float, default=0.9)
    parser.add_argument("--limit", type=int, default=0, help="sentences, for a trial")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output", type=Path, required=True, help="may be MODEL")
    args = parser.parse_args()
    bundle = open_bundle(args.model)
    lines = list(islice(read_lines(args.text), args.limit or None))
    options = CalibrationOptions(args.threshold, args.size, args.recall)
    engine = NativeEngine.open(bundle, threads=args.threads)
    found = calibrate(engine, with_eos(bundle.tokenizers().source.encode(lines)), options)
    shift_bias(args.model, args.output, found.shift, args.threshold)
    note = {
        "shift": round(found.shift, 4),
        "mean_size": round(found.own.mean_size, 1),
        "own_recall": round(100 * found.own.recall, 2),
        "sentences": len(lines),
    }
    print(json.dumps(note))


if __name__ == "__main__":
    main()
