"""`sieve VERB`: finds the verb's file, parses, runs, turns errors into exit codes.

Exit codes: 0 done, 1 a bug (traceback), 2 the user can mend it (one line), 130 interrupted.
A verb is a module of this package with `add_arguments(parser)`, `execute(arguments)` and, in its
docstring, the description and examples that `--help` shows. Only the chosen verb is imported.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

import sieve
from sieve import log
from sieve.config import unknown
from sieve.errors import SieveError

VERBS = {
    "prepare": "raw parallel text into a cleaned, tokenised, memory-mapped corpus",
    "train": "a translation model with neural vocabulary selection from a prepared corpus",
    "average": "the best checkpoints of a run into one model directory",
    "adapt": "fine-tune a model directory on new data, all of it or the head alone",
    "calibrate": "the operating point of a model's selection, and its dial",
    "convert": "a model directory to int8, float16 or float32 weights",
    "lexicon": "alignment lexicons: build, align, adapt, import, export, show",
    "translate": "lines in, translated lines out",
    "score": "log-probabilities of given translations",
    "explain": "who voted for which word of a sentence, and what could not be reached",
    "evaluate": "quality, recall, set sizes and latency on test sets, as a table",
    "serve": "translations over HTTP: LibreTranslate's API and our own",
    "benchmark": "latency of one sentence at a time, repeated in fresh processes",
    "human": "human evaluation: blind rating sheets, and what the ratings say",
    "report": "everything measured, as one HTML page",
    "doctor": "what this machine can do, which models are here, how fast they are",
    "completion": "what a shell needs to complete verbs and options",
}


def run() -> None:
    """Entry point of the `sieve` command."""
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
    except SieveError as error:
        print(f"sieve {verb}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of our output went away
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print(f"sieve {verb}: interrupted", file=sys.stderr)
        return 130
    return 0


def _no_verb(verb: str, argv: Sequence[str]) -> int:
    """What to say where no verb is named: help, the version, or what is wrong."""
    if verb and not verb.startswith("-"):
        print(f"sieve: {unknown('verb', verb, list(VERBS))}", file=sys.stderr)
        return 2
    parser = argparse.ArgumentParser(
        prog="sieve",
        description="Neural machine translation over the output words a sentence can need.",
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
    module = importlib.import_module(f"sieve.cli.{verb}")
    parser = argparse.ArgumentParser(
        prog=f"sieve {verb}",
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="more log lines")
    module.add_arguments(parser)
    parser.set_defaults(execute=module.execute)
    return parser
