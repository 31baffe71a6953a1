"""Builds the models of a language pair from raw text: python recipes/build.py en-de.

Stages run in order; one that is done is skipped, one that was killed resumes, one whose inputs or
settings changed runs again (its old outputs go to WORK/aside). README.md beside the recipe says
what each needs. A direction (de-en) builds that student alone.

Examples:
  python recipes/build.py en-de --list
  python recipes/build.py en-de teacher --slot 540
  python recipes/build.py de-en --from join
  python recipes/build.py en-de evaluate card --only --again
"""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from pipeline.driver import Choice, carry_out, listed
from pipeline.graph import Build
from pipeline.layout import Layout
from pipeline.recipe import read_recipe
from pipeline.stage import Stamps
from pipeline.tools import SLOT_OVER, SlotOverError, Tools, Verbs
from sieve import log
from sieve.config import unknown
from sieve.errors import ConfigError, SieveError
from sieve.processes.cores import usable_cores

RECIPES = Path(__file__).parent


def main(argv: Sequence[str]) -> int:
    """Builds; returns the exit code."""
    args = _parser().parse_intermixed_args(argv)  # stages may follow options
    log.configure()
    try:
        path, directions = find_recipe(args.pair)
        recipe = read_recipe(path)
        places = Layout(args.data, args.work or Path("work") / recipe.name)
        both = tuple(f"{source}-{target}" for source, target, _ in recipe.directions())
        tools = Tools(Verbs(args.slot), args.jobs)
        build = Build(recipe, path.parent, places, tools, directions or both)
        stages, stamps = build.stages(), Stamps(places.work / "stamps")
        choice = Choice(tuple(args.stages), args.first, args.last, args.only, args.again)
        if args.list:
            print(*listed(stages, choice, stamps), sep="\n", flush=True)
            return 0
        carry_out(stages, choice, stamps, log.logger.info)
    except BrokenPipeError:  # the reader of --list went away
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except SlotOverError as error:
        log.logger.info("%s", error)
        return SLOT_OVER
    except SieveError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted: rerun to resume", file=sys.stderr)
        return 130
    return 0


def find_recipe(name: str) -> tuple[Path, tuple[str, ...]]:
    """The recipe of a pair, and the direction where one is named that has no folder of its own."""
    if name.endswith(".toml"):
        return Path(name), ()
    known = sorted(path.parent.name for path in RECIPES.glob("*/recipe.toml"))
    turned = "-".join(reversed(name.split("-")))
    if name in known:
        return RECIPES / name / "recipe.toml", ()
    if turned in known:
        return RECIPES / turned / "recipe.toml", (name,)
    raise ConfigError(unknown("language pair", name, known))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "pair", metavar="PAIR", help="en-de, one direction (de-en), or a .toml file"
    )
    parser.add_argument(
        "stages", nargs="*", metavar="STAGE", help="with what they need; default: all"
    )
    parser.add_argument("--list", action="store_true", help="show the stages and their state")
    parser.add_argument("--from", dest="first", default="", metavar="STAGE", help="the first")
    parser.add_argument("--until", dest="last", default="", metavar="STAGE", help="the last")
    parser.add_argument("--only", action="store_true", help="the named stages, nothing before them")
    parser.add_argument("--again", action="store_true", help="also what is done")
    parser.add_argument("--data", type=Path, default=Path("data"), help="raw data (default: data)")
    parser.add_argument("--work", type=Path, help="where to build (default: work/PAIR)")
    parser.add_argument(
        "--slot", type=float, default=0.0, metavar="SECONDS",
        help="stop then, with a checkpoint and exit code 143; rerun to resume",
    )  # fmt: skip
    parser.add_argument("--jobs", type=int, default=usable_cores(), help="processes")
    return parser


def _stop(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)  # what runs below is ended on the way out


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _stop)
    sys.exit(main(sys.argv[1:]))
