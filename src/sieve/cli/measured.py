"""What verbs that measure write: every number as JSON, the tables as Markdown."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sieve.evaluation.summary import Table


def write_measured(
    arguments: argparse.Namespace,
    tables: "Sequence[Table]",
    content: Mapping[str, Sequence[Any]],
) -> None:
    """Writes the files of --json and --markdown; `content` holds rows that are dataclasses."""
    from sieve.files import whole_file, write_json

    if arguments.json:
        rows = {name: [asdict(row) for row in value] for name, value in content.items()}
        write_json(arguments.json, {"command": " ".join(["sieve", *sys.argv[1:]]), **rows})
    if arguments.markdown:
        with whole_file(arguments.markdown) as partial:
            text = "\n".join(table.as_markdown() for table in tables)
            partial.write_text(text, encoding="utf-8")
