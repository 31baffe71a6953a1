"""`sieve translate` of compressed files and of shards: in pieces, as `sieve bulk` does."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from sieve.cli.documents import LINES
from sieve.cli.lines import is_compressed
from sieve.errors import ConfigError
from sieve.log import logger

if TYPE_CHECKING:
    from sieve.bulk.cells import ModelUse
    from sieve.translate.translation import Request


def in_pieces(arguments: argparse.Namespace) -> bool:
    """Whether lines are translated in pieces: into a compressed file, from one, or a shard."""
    source, output = arguments.input, arguments.output
    if arguments.shard is None and (output is None or not _is_packed(source, output)):
        return False
    reason = "--shard" if arguments.shard is not None else "a compressed file"
    if source is None or not source.is_file() or output is None:
        raise ConfigError(f"{reason} requires --input FILE and --output FILE")
    if arguments.format not in (None, LINES):
        raise ConfigError(f"{reason}: lines are translated, not --format {arguments.format}")
    for name in ("json", "quality", "alignment"):
        if getattr(arguments, name):
            raise ConfigError(f"{reason} does not support --{name}")
    return True


def _is_packed(source: Path | None, output: Path) -> bool:
    from sieve.files.compressed import compression_of_name

    return compression_of_name(output) is not None or is_compressed(source)


def translate_in_pieces(request: "Request", arguments: argparse.Namespace) -> None:
    """From file to file; a run that was killed resumes when rerun."""
    from sieve.bulk.bulk_job import BulkJob, BulkOptions
    from sieve.bulk.local_runner import LocalRunner
    from sieve.bulk.planning import Shard
    from sieve.bulk.rows.row_formats import RowOptions

    options = BulkOptions(
        (str(arguments.input),),
        arguments.output,
        single=True,
        rows=RowOptions("text", replace_invalid=True),
        resume=True,
        shard=None if arguments.shard is None else Shard.parse(arguments.shard),
    )
    use = model_use(arguments, request, arguments.threads)
    job = BulkJob(options, use)
    job.run(LocalRunner(use, 1))
    logger.info("%s: %s accounts for it", arguments.output, options.manifest)


def model_use(arguments: argparse.Namespace, request: "Request", threads: int | None) -> "ModelUse":
    """The model that options name, and what is asked of it."""
    from sieve.bulk.cells import ModelUse, model_hash

    engine = {
        "engine": arguments.engine,
        "device": arguments.device,
        "precision": arguments.precision,
        "threads": threads,
        "verify": arguments.verify,
    }
    path = Path(arguments.model)  # workers start elsewhere
    model = str(path.absolute()) if path.exists() else arguments.model
    return ModelUse(model, request, arguments.prefix, engine, model_hash(model))
