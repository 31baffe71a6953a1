"""Fine-tune a model directory on new data: the whole model, or its NVS head alone.

--head-only leaves the translation model unchanged, bit for bit, and trains only the head.
--new-head gives a fresh head to a model; with --head-only that is sieve attach on the same text,
which leaves a calibrated model. A calibrated model is calibrated again at the end, on the source
side of --valid if given. A killed run resumes when rerun.

Examples:
  sieve adapt model --pair in-domain.en in-domain.de --output adapted
  sieve adapt model --data corpus --head-only --output adapted
  sieve adapt model --data corpus --head-only --new-head tied --epochs 1 --output with-head
"""

import argparse
from pathlib import Path

from sieve.cli.train import leave_if_stopped


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `sieve adapt`."""
    parser.add_argument("model", type=Path, metavar="MODEL", help="model directory to start from")
    data = parser.add_mutually_exclusive_group(required=True)
    data.add_argument(
        "--data", nargs="+", metavar="DIR", help="corpora prepared with the model's tokenizer"
    )
    data.add_argument("--pair", nargs=2, metavar=("SRC", "TGT"), help="parallel text files")
    parser.add_argument("--valid", nargs=2, metavar=("SRC", "TGT"), help="validation text files")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="model directory")
    parser.add_argument("--epochs", type=int, default=10, help="passes over the data (default 10)")
    parser.add_argument("--learning-rate", type=float, default=1e-4, help="default 0.0001")
    parser.add_argument(
        "--batch-tokens", type=int, default=2048, help="target tokens per update (default 2048)"
    )
    parser.add_argument("--head-only", action="store_true", help="train only the NVS head")
    parser.add_argument("--new-head", choices=["tied", "full"], help="replace or add the head")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="SECTION.KEY=VALUE",
        help="any setting of sieve train, e.g. training.precision=bfloat16; repeatable",
    )


def execute(arguments: argparse.Namespace) -> None:
    """Runs `sieve adapt`."""
    from sieve.errors import require

    require("torch", "train", "adaptation")
    from sieve.importers.opening import model_directory
    from sieve.train.adapt import AdaptOptions, adapt

    options = AdaptOptions(
        corpora=tuple(arguments.data or ()),
        pair=tuple(Path(path) for path in arguments.pair or ()),
        valid=tuple(arguments.valid or ()),
        epochs=arguments.epochs,
        learning_rate=arguments.learning_rate,
        batch_tokens=arguments.batch_tokens,
        head_only=arguments.head_only,
        new_head=arguments.new_head,
        overrides=tuple(arguments.set),
    )
    model = model_directory(arguments.model)
    leave_if_stopped(adapt(model, arguments.output, options), f"--output {arguments.output}")
