"""Print a script that makes a shell complete verbs, options, choices and files.

Requires shtab (pip install 'sieve-nmt[completion]'); the printed script requires nothing.

Examples:
  sieve completion bash > ~/.local/share/bash-completion/completions/sieve
  sieve completion zsh > "${fpath[1]}/_sieve"
  sieve completion fish > ~/.config/fish/completions/sieve.fish
"""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sieve.cli.main import whole_parser
from sieve.errors import require


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `sieve completion`."""
    parser.add_argument("shell", choices=["bash", "fish", "zsh"])


def execute(arguments: argparse.Namespace) -> None:
    """Runs `sieve completion`."""
    print(script(arguments.shell))


def script(shell: str) -> str:
    """The completion script of a shell."""
    shtab = require("shtab", "completion", "shell completion")
    parser = whole_parser()
    _complete_files(parser, shtab.FILE)
    return str(shtab.complete(parser, shell))


def _complete_files(parser: argparse.ArgumentParser, files: Mapping[str, Any]) -> None:
    """Marks what takes a value of its own as a possible file."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                _complete_files(inner, files)
        elif action.nargs != 0 and not action.choices and action.type in (None, Path):
            action.complete = files  # type: ignore[attr-defined]
