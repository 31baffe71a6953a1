"""Translate corpora of any size on a Ray cluster, on this machine's cores, or shard by shard.

INPUT is a file, a directory, a glob in quotes, or an address such as s3://bucket/corpus: text, a
sentence or paragraph per line, or with --columns tables (tsv), JSON lines (jsonl) and Parquet; text
formats also as .gz, .zst and .bz2. Each gets an output of its name, format and compression in DIR;
the output of text is byte for byte that of sieve translate. DIR/manifest.json accounts for it.

A run that was stopped or killed, with all its machines or a few, continues with --resume. A text
that cannot be translated is an error in its row, not the end of the run.

Examples:
  sieve bulk en-de 'corpus/*.txt.gz' --output german
  sieve bulk en-de s3://bucket/corpus --columns text --output german --address auto
  sieve bulk en-de crawl.jsonl.zst --columns title,body --output german --deduplicate --resume
  sieve bulk en-de corpus --output /shared/german --local --shard 3/20
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from sieve.cli.model_options import add_model_arguments
from sieve.cli.request_options import add_request_arguments, request_of
from sieve.cli.translated_pieces import model_use
from sieve.errors import ConfigError
from sieve.log import logger
from sieve.processes.cores import usable_cores

if TYPE_CHECKING:
    from sieve.bulk.bulk_job import PieceRunner
    from sieve.bulk.cells import ModelUse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `sieve bulk`."""
    parser.add_argument(
        "model", metavar="MODEL", help="model directory, run directory or built-in model"
    )
    parser.add_argument("inputs", nargs="+", metavar="INPUT", help="what to translate")
    add_model_arguments(parser, threads="of each worker (default: 1)")
    files = parser.add_argument_group("files")
    files.add_argument("--output", type=Path, required=True, metavar="DIR")
    files.add_argument(
        "--format",
        choices=["text", "tsv", "jsonl", "parquet"],
        help="of all inputs (default: what their names say, else text)",
    )
    files.add_argument(
        "--columns",
        type=lambda text: tuple(filter(None, text.split(","))),
        default=(),
        metavar="NAME,…",
        help="which hold text, by name, in tsv also by number from 1",
    )
    files.add_argument(
        "--in-place",
        action="store_true",
        help="replace texts by translations; by default NAME_translation, NAME_score, "
        "NAME_shortlist_size, NAME_confidence and NAME_error follow as columns of their own",
    )
    files.add_argument(
        "--replace-invalid",
        action="store_true",
        help="read U+FFFD where a file is not valid UTF-8, as sieve translate does",
    )
    files.add_argument(
        "--deduplicate", action="store_true", help="translate equal texts once, in little memory"
    )
    files.add_argument(
        "--resume", action="store_true", help="continue a run that was stopped or killed"
    )
    where = parser.add_argument_group("where")
    where.add_argument(
        "--address",
        metavar="HOST:PORT",
        help="of a Ray cluster, auto for the one of this node (default: a cluster of this machine)",
    )
    where.add_argument("--local", action="store_true", help="processes of this machine, no Ray")
    where.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="processes that translate (default: as many as there are cores for)",
    )
    where.add_argument(
        "--shard",
        metavar="K/N",
        help="translate the Kth of N parts; machines that share DIR do one each, the last to end "
        "writes the outputs",
    )
    add_request_arguments(parser)


def execute(arguments: argparse.Namespace) -> None:
    """Runs `sieve bulk`."""
    from sieve.bulk.bulk_job import BulkJob, BulkOptions
    from sieve.bulk.planning import Shard
    from sieve.bulk.rows.row_formats import RowOptions

    if arguments.local and arguments.address:
        raise ConfigError("got --local and --address, expected one of them")
    shard = None if arguments.shard is None else Shard.parse(arguments.shard)
    rows = RowOptions(
        arguments.format, arguments.columns, arguments.in_place, arguments.replace_invalid
    )
    options = BulkOptions(
        tuple(arguments.inputs),
        arguments.output,
        rows=rows,
        deduplicate=arguments.deduplicate,
        resume=arguments.resume or shard is not None,
        shard=shard,
    )
    use = model_use(arguments, request_of(arguments), arguments.threads or 1)
    job = BulkJob(options, use)
    manifest = job.run(_runner(arguments, use))
    if manifest is not None:
        logger.info(
            "%s: %d rows, %d errors, manifest.json accounts for them",
            arguments.output,
            manifest["rows"],
            manifest["errors"],
        )


def _runner(arguments: argparse.Namespace, use: "ModelUse") -> "PieceRunner":
    workers, threads = arguments.workers, arguments.threads or 1
    if workers is not None and workers < 1:
        raise ConfigError(f"--workers: got {workers}, expected 1 or more")
    if arguments.local:
        from sieve.bulk.local_runner import LocalRunner

        return LocalRunner(use, workers or max(1, usable_cores() // threads))
    from sieve.bulk.ray_runner import RayRunner

    return RayRunner(use, arguments.address, workers, threads)
