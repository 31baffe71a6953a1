"""`sieve VERB`: finds the verb's file, parses, runs, turns errors into exit codes.

Exit codes: 0 done, 1 a bug (traceback), 2 the user can fix it (one line), 130 interrupted.
A verb is a module of this package with `add_arguments(parser)`, `execute(arguments)` and, in its
docstring, the description and examples that `--help` shows. Only the chosen verb is imported.
"""

import argparse
import errno
import importlib
import keyword
import os
import sys
from collections.abc import Sequence

import sieve
from sieve import log
from sieve.cli.closed_output import closed_output
from sieve.cli.parser import Parser
from sieve.config import unknown
from sieve.errors import SieveError

VERBS = {
    "prepare": "raw parallel text to a cleaned, tokenised, memory-mapped corpus",
    "train": "train a translation model with neural vocabulary selection",
    "average": "average the best checkpoints of a run",
    "adapt": "fine-tune a model, or its selection head alone",
    "attach": "give a model a selection head, everything else frozen",
    "calibrate": "set the operating point of a model's selection",
    "import": "turn a model of another toolkit into a model directory",
    "models": "list the models that are here",
    "convert": "convert weights to int8, float16 or float32",
    "lexicon": "alignment lexicons: build, align, adapt, import, show",
    "export": "write a static shortlist for another toolkit",
    "translate": "translate lines or a document",
    "bulk": "translate corpora on a Ray cluster or on all cores",
    "score": "log-probabilities of given translations",
    "explain": "show which source word voted for which token",
    "evaluate": "quality, recall, shortlist sizes and latency on test sets",
    "serve": "serve translations over HTTP",
    "benchmark": "latency of single sentences, repeated in fresh processes",
    "human": "human evaluation: blind rating sheets and their results",
    "report": "measure everything and write one HTML page",
    "doctor": "check this machine: CPU, kernels, packages, models, speed",
    "completion": "print a shell completion script",
}

_DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
_OUR_FAULT = (errno.EBADF, errno.EINVAL, errno.EFAULT)
"""What a system says to a program that asks for nonsense."""


def run() -> None:
    """Entry point of the `sieve` command."""
    if sys.stdout is None:
        sys.stdout = closed_output()
    sys.exit(main(sys.argv[1:]))


def main(argv: Sequence[str]) -> int:
    """Runs one command and returns its exit code."""
    verb = argv[0] if argv else ""
    if verb not in VERBS:
        return _no_verb(verb, argv)
    arguments = verb_parser(verb).parse_args(argv[1:])
    execute = arguments.execute
    del arguments.execute
    log.configure(arguments.verbose)
    try:
        execute(arguments)
        sys.stdout.flush()
    except SieveError as error:
        print(f"sieve {verb}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of our output went away
        _drop_output()
        return 0
    except OSError as error:
        if error.errno is None or error.errno in _OUR_FAULT:
            raise
        where = f"{error.filename}: " if error.filename else ""
        advice = ""
        if error.errno in _DISK_FULL:
            _drop_output()
            advice = "; free some and rerun"
        print(f"sieve {verb}: {where}{error.strerror}{advice}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"sieve {verb}: interrupted", file=sys.stderr)
        return 130
    return 0


def _drop_output() -> None:
    """Lets Python end without another error about what it could not write."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _no_verb(verb: str, argv: Sequence[str]) -> int:
    """What to say where no verb is named: help, the version, or what is wrong."""
    if verb and not verb.startswith("-"):
        print(f"sieve: {unknown('verb', verb, list(VERBS))}", file=sys.stderr)
        return 2
    parser = Parser(
        prog="sieve",
        description="Neural machine translation with vocabulary selection.",
        epilog="verbs:\n"
        + "\n".join(f"  {name:<11}{summary}" for name, summary in VERBS.items())
        + "\n\nsieve VERB --help shows options and examples.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="sieve VERB [options]",
    )
    parser.add_argument("--version", action="version", version=f"sieve {sieve.__version__}")
    parser.add_argument("verb", nargs="?", help=argparse.SUPPRESS)
    parser.parse_args(argv)
    parser.print_help(sys.stderr)
    return 2


def verb_parser(verb: str) -> argparse.ArgumentParser:
    """The parser of one verb."""
    parser = Parser(prog=f"sieve {verb}")
    _declare(parser, verb)
    return parser


def whole_parser() -> argparse.ArgumentParser:
    """The parser of all verbs, for tools that read it; running a verb imports that verb alone."""
    parser = Parser(prog="sieve")
    parser.add_argument("--version", action="version", version=f"sieve {sieve.__version__}")
    verbs = parser.add_subparsers(metavar="VERB")
    for verb, summary in VERBS.items():
        _declare(verbs.add_parser(verb, help=summary), verb)
    return parser


def _declare(parser: argparse.ArgumentParser, verb: str) -> None:
    # no module can be called `import`
    name = f"{verb}_" if keyword.iskeyword(verb) else verb
    module = importlib.import_module(f"sieve.cli.{name}")
    parser.description = module.__doc__
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("-v", "--verbose", action="store_true", help="log more")
    module.add_arguments(parser)
    parser.set_defaults(execute=module.execute)
