"""Print a script that makes a shell complete verbs, options, choices and files.

Made from the options that verbs declare, so it never lags behind them; needs nothing installed.

Examples:
  sieve completion bash > ~/.local/share/bash-completion/completions/sieve
  sieve completion zsh > "${fpath[1]}/_sieve"
  sieve completion fish > ~/.config/fish/completions/sieve.fish
"""

import argparse
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sieve.cli.main import VERBS, verb_parser


@dataclass(frozen=True)
class Option:
    """An option of a verb."""

    names: tuple[str, ...]
    choices: tuple[str, ...]
    takes_value: bool
    help: str


@dataclass(frozen=True)
class Verb:
    """A verb, or an action of one: what may follow it."""

    words: tuple[str, ...]
    """`lexicon`, or `lexicon build`."""
    help: str
    options: tuple[Option, ...]
    choices: tuple[str, ...]
    """Of its arguments; files where there are none."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `sieve completion`."""
    parser.add_argument("shell", choices=sorted(_SCRIPTS))


def execute(arguments: argparse.Namespace) -> None:
    """Runs `sieve completion`."""
    print(script(arguments.shell))


def script(shell: str) -> str:
    """The completion script of a shell."""
    return _SCRIPTS[shell](list(_verbs()))


def _verbs() -> Iterator[Verb]:
    for name, text in VERBS.items():
        yield from _read(verb_parser(name), (name,), text)


def _read(parser: argparse.ArgumentParser, words: tuple[str, ...], text: str) -> Iterator[Verb]:
    options: list[Option] = []
    choices: list[str] = []
    inner: dict[str, argparse.ArgumentParser] = {}
    for action in parser._actions:
        values = tuple(map(str, action.choices or ()))
        if isinstance(action, argparse._SubParsersAction):
            inner = dict(action.choices)
        if action.option_strings:
            about = (action.help or "").split(" (default")[0].replace("%%", "%")
            options.append(Option(tuple(action.option_strings), values, action.nargs != 0, about))
        else:
            choices += values
    yield Verb(words, text, tuple(options), tuple(choices))
    for name, one in inner.items():
        yield from _read(one, (*words, name), "")


def _bash(verbs: list[Verb]) -> str:
    values, words = [], []
    for verb in verbs:
        key = " ".join(verb.words)
        names = [name for option in verb.options for name in option.names]
        words.append(f"    {shlex.quote(key)}) words={shlex.quote(' '.join(names))}"
                     f" choices={shlex.quote(' '.join(verb.choices))} ;;")  # fmt: skip
        values += [
            f"    {shlex.quote(f'{key} {name}')}) values={shlex.quote(' '.join(option.choices))} ;;"
            for option in verb.options
            for name in option.names
            if option.choices
        ]
    actions = " | ".join(f"'{' '.join(verb.words)}'" for verb in verbs if len(verb.words) > 1)
    return "\n".join([
        "# bash completion for sieve",
        "_sieve() {",
        '  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}',
        '  local verb=${COMP_WORDS[1]} words= choices= values=',
        "  COMPREPLY=()",
        "  if [ \"$COMP_CWORD\" -eq 1 ]; then",
        f"    COMPREPLY=($(compgen -W {shlex.quote(' '.join([*VERBS, '--help', '--version']))}"
        ' -- "$word"))',
        "    return",
        "  fi",
        '  if [ "$COMP_CWORD" -gt 2 ]; then',
        '    case "$verb ${COMP_WORDS[2]}" in',
        f"    {actions}) verb=\"$verb ${{COMP_WORDS[2]}}\" ;;",
        "    esac",
        "  fi",
        '  case "$verb $before" in', *values, "  esac",
        '  if [ -n "$values" ]; then',
        '    COMPREPLY=($(compgen -W "$values" -- "$word"))',
        "    return",
        "  fi",
        '  case "$verb" in', *words, "  esac",
        '  if [ "${word:0:1}" = - ]; then',
        '    COMPREPLY=($(compgen -W "$words" -- "$word"))',
        "  else",
        '    COMPREPLY=($(compgen -W "$choices" -- "$word") $(compgen -f -- "$word"))',
        "  fi",
        "}",
        "complete -o filenames -F _sieve sieve",
    ])  # fmt: skip


def _zsh(verbs: list[Verb]) -> str:
    cases = []
    for verb in verbs:
        specs = [_zsh_option(option) for option in verb.options]
        what = f"({' '.join(verb.choices)})" if verb.choices else "_files"
        arguments = " ".join([*specs, shlex.quote(f"*:argument:{what}")])
        cases.append(f"    {shlex.quote(' '.join(verb.words))}) _arguments -s {arguments} ;;")
    names = " ".join(shlex.quote(f"{name}:{_zsh_text(text)}") for name, text in VERBS.items())
    actions = " | ".join(f"'{' '.join(verb.words)}'" for verb in verbs if len(verb.words) > 1)
    return "\n".join([
        "#compdef sieve",
        "_sieve() {",
        "  local -a verbs",
        f"  verbs=({names})",
        "  if (( CURRENT == 2 )); then",
        "    _describe verb verbs",
        "    return",
        "  fi",
        "  local verb=$words[2] skip=1",
        '  case "$verb $words[3]" in',
        f'    {actions}) (( CURRENT > 3 )) && {{ verb="$verb $words[3]"; skip=2 }} ;;',
        "  esac",
        "  shift $skip words",
        "  (( CURRENT -= skip ))",
        "  case $verb in", *cases, "  esac",
        "}",
        'if [ "$funcstack[1]" = _sieve ]; then _sieve "$@"; else compdef _sieve sieve; fi',
    ])  # fmt: skip


def _zsh_option(option: Option) -> str:
    value = ""
    if option.takes_value:
        value = f":value:({' '.join(option.choices)})" if option.choices else ":value:_files"
    text = _zsh_text(option.help)
    return " ".join(shlex.quote(f"{name}[{text}]{value}") for name in option.names)


def _zsh_text(text: str) -> str:
    return re.sub(r"([\[\]:\\])", r"\\\1", " ".join(text.split()))


def _fish(verbs: list[Verb]) -> str:
    lines = ["# fish completion for sieve", "complete -c sieve -n __fish_use_subcommand -l version"]
    for name, text in VERBS.items():
        lines.append(
            f"complete -c sieve -f -n __fish_use_subcommand -a {name} -d {_fish_text(text)}"
        )
    for verb in verbs:
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in verb.words)
        start = f"complete -c sieve -n {_fish_text(seen)}"
        if verb.choices:
            lines.append(f"{start} -a {_fish_text(' '.join(verb.choices))}")
        lines += [start + _fish_option(option) for option in verb.options]
    return "\n".join(lines)


def _fish_option(option: Option) -> str:
    names = "".join(
        f" -l {name[2:]}" if name.startswith("--") else f" -s {name[1:]}" for name in option.names
    )
    value = " -r" if option.takes_value else ""
    if option.choices:
        value = f" -x -a {_fish_text(' '.join(option.choices))}"
    return f"{names}{value} -d {_fish_text(' '.join(option.help.split()))}"


def _fish_text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


_SCRIPTS: dict[str, Callable[[list[Verb]], str]] = {"bash": _bash, "fish": _fish, "zsh": _zsh}
