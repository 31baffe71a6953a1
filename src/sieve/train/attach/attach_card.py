"""What a model's card says of a head that was attached. Knows no files."""

from collections.abc import Sequence
from dataclasses import dataclass

from sieve.train.attach.head import HeadOptions, HeadProgress
from sieve.train.attach.reach_curve import ReachPoint

_TITLE = "## Selection head"


@dataclass(frozen=True)
class HeadFacts:
    """What there is to say."""

    kind: str
    text: str
    sentences: int
    label_minutes: float
    train_minutes: float
    options: HeadOptions
    progress: HeadProgress
    judged: int
    """Sentences that the reach is measured on."""
    curves: dict[str, list[ReachPoint]]


def card_with_head(before: str, name: str, facts: HeadFacts) -> str:
    """The card of the model, with a section on its head in place of an older one."""
    origin = before.split(_TITLE)[0].rstrip() or f"# {name}"
    size = facts.options.size
    lines = [
        origin,
        "",
        _TITLE,
        "",
        "Attached by `sieve attach`; everything else of the model is what it was, and its licence "
        "holds for it as before.",
        "",
        f"- Head: {facts.kind}, seed {facts.options.seed}",
        f"- Text: {facts.sentences:,} lines of {facts.text}",
        f"- Time: {facts.label_minutes:.1f} minutes for translating them, "
        f"{facts.train_minutes:.1f} for learning",
        *(_reach(label, curve, size, facts.judged) for label, curve in facts.curves.items()),
        "",
        "In reach: none of the tokens that the model writes without selection is missing.",
    ]
    return "\n".join(lines) + "\n"


def _reach(label: str, curve: Sequence[ReachPoint], size: int, judged: int) -> str:
    point = min(curve, key=lambda point: abs(point.size - size))
    return (
        f"- {label.capitalize()}, {point.size:,.0f} tokens: {100 * point.own:.2f} % of the model's "
        f"own tokens, {100 * point.reach:.1f} % of {judged:,} held-out sentences in reach"
    )
