"""Which stages run, in which order, with a line for each. Knows no stage's work."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pipeline.stage import Stage, Stamps
from sieve.config import unknown
from sieve.errors import ConfigError, InputError


@dataclass(frozen=True)
class Choice:
    """What the user asks for; empty for everything."""

    stages: tuple[str, ...] = ()
    """Names ("head.en-de") or names without a direction ("head")."""
    first: str = ""
    last: str = ""
    only: bool = False
    """Not what the named stages need first."""
    again: bool = False
    """Also if they are done."""


def chosen(stages: Sequence[Stage], choice: Choice) -> list[Stage]:
    """The stages to run, in order."""
    named = [stage for name in choice.stages for stage in _called(stages, name)]
    if named:
        wanted = {stage.name for stage in named}
        if not choice.only:
            wanted |= {need.name for stage in named for need in _needs(stages, stage)}
        picked = [stage for stage in stages if stage.name in wanted]
    else:
        picked = [stage for stage in stages if not stage.optional]
    if choice.first:
        start = stages.index(_called(stages, choice.first)[0])
        picked = [stage for stage in picked if stages.index(stage) >= start]
    if choice.last:
        stop = stages.index(_called(stages, choice.last)[-1])
        picked = [stage for stage in picked if stages.index(stage) <= stop]
    return picked


def carry_out(
    stages: Sequence[Stage], choice: Choice, stamps: Stamps, say: Callable[[str], None]
) -> None:
    """Runs what is not done yet."""
    named = {stage.name for name in choice.stages for stage in _called(stages, name)}
    for stage in chosen(stages, choice):
        why = stamps.why_not_done(stage)
        if not why and not (choice.again and (not named or stage.name in named)):
            say(f"{stage.name}: done before")
            continue
        _check_inputs(stages, stage)
        started = time.monotonic()
        stamps.carry_out(stage)
        say(f"{stage.name}: done in {time.monotonic() - started:.1f} s ({why or 'again'})")


def listed(stages: Sequence[Stage], choice: Choice, stamps: Stamps) -> list[str]:
    """A line for each stage that is chosen, or for all: name, state, what it does."""
    lines = []
    for stage in stages if choice == Choice() else chosen(stages, choice):
        why = stamps.why_not_done(stage)
        state = f"to do: {why}" if why else "done"
        kind = "only when named: " if stage.optional else ""
        lines.append(f"{stage.name:22} {state:20} {kind}{stage.about}")
    return lines


def _called(stages: Sequence[Stage], name: str) -> list[Stage]:
    called = [stage for stage in stages if name in (stage.name, stage.base)]
    if not called:
        names = dict.fromkeys(known for stage in stages for known in (stage.base, stage.name))
        raise ConfigError(unknown("stage", name, list(names)))
    return called


def _needs(stages: Sequence[Stage], stage: Stage) -> list[Stage]:
    """All stages that a stage's inputs come from, and theirs."""
    direct = [
        other
        for other in stages
        if not other.optional and other is not stage and any(_makes(other, p) for p in stage.inputs)
    ]
    return [need for other in direct for need in (*_needs(stages, other), other)]


def _makes(stage: Stage, path: object) -> bool:
    return any(path == output or output in getattr(path, "parents", ()) for output in stage.outputs)


def _check_inputs(stages: Sequence[Stage], stage: Stage) -> None:
    for path in stage.inputs:
        if not path.exists():
            makers = [other.name for other in stages if _makes(other, path)]
            hint = f"run '{makers[0]}' first" if makers else "put it there, or give --data"
            raise InputError(f"{stage.name}: {path} not found; {hint}")
