"""A parser of options whose errors are one line, with the nearest option or choice."""

import argparse
import re
import sys
from typing import Any, NoReturn

from sieve.config import unknown

_UNKNOWN = re.compile(r"unrecognized arguments: (?P<names>.*)", re.DOTALL)
_CHOICE = re.compile(r"argument (?P<what>.*?): invalid choice: '(?P<name>.*)' \(choose from .*\)")


class Parser(argparse.ArgumentParser):
    """Says in one line what was not understood, and exits with 2."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Options may stand before, between and behind other arguments."""
        if any(action.nargs == argparse.PARSER for action in self._actions):
            return super().parse_args(args, namespace)
        return self.parse_intermixed_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Prints the line."""
        print(f"{self.prog}: {self._line(message)}", file=sys.stderr)
        raise SystemExit(2)

    def _line(self, message: str) -> str:
        if match := _UNKNOWN.fullmatch(message):
            return self._unknown(match["names"].split())
        if match := _CHOICE.fullmatch(message):
            return unknown(match["what"], match["name"], self._choices(match["what"]))
        return f"{message}; see {self.prog} --help"

    def _unknown(self, names: list[str]) -> str:
        name = names[0].partition("=")[0]
        if name.startswith("-"):
            known = [option for option in self._option_string_actions if option.startswith("--")]
            return f"{unknown('option', name, known)}; see {self.prog} --help"
        return f"got {' '.join(names)!r} too many; see {self.prog} --help"

    def _choices(self, what: str) -> list[str]:
        """The choices of an argument that is called so in an error."""
        for action in self._actions:
            if argparse._get_action_name(action) == what:
                return [str(choice) for choice in action.choices or ()]
        return []
