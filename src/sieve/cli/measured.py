"""What verbs that measure write: every number as JSON, the tables as Markdown."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sieve.evaluate.present.text_table import Table


def write_measured(
    arguments: argparse.Namespace,
    tables: "Sequence[Table]",
    content: Mapping[str, Any],
) -> None:
    """Writes the files of --json and --markdown, where they are asked for."""
    from sieve.files import whole_file, write_json

    if arguments.json:
        write_json(arguments.json, {"command": " ".join(["sieve", *sys.argv[1:]]), **content})
    if arguments.markdown:
        with whole_file(arguments.markdown) as partial:
            text = "\n".join(table.as_markdown() for table in tables)
            partial.write_text(text, encoding="utf-8")
