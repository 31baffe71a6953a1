"""Lines through the steps and back, in rounds: what to ask the model next, and the drafts.

Whoever owns the model answers `queries` until there are none; then `drafts` has the results. A step
that asks for a retry takes its line through one more round, other lines are done meanwhile.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from sieve.repair.draft import Draft
from sieve.repair.step import Line, Retry, Step

_Course = Generator[Line, list[Draft], list[Draft]]


class Rounds:
    """Lines on their way through the steps."""

    def __init__(self, lines: Sequence[Line], steps: Sequence[Step]) -> None:
        """Takes lines up to the model.

        Args:
            lines: Sentences.
            steps: The outermost first.
        """
        self.drafts: list[list[Draft]] = [[] for _ in lines]
        """Of each line, best first; complete when there are no more queries."""
        self._courses = [_course(line, steps) for line in lines]
        self._waiting: dict[int, Line] = {}
        for row, course in enumerate(self._courses):
            self._advance(row, course, None)

    @property
    def queries(self) -> list[Line]:
        """What the model is to translate now."""
        return list(self._waiting.values())

    def answer(self, answers: Sequence[list[Draft]]) -> None:
        """Takes the model's drafts for each of `queries`, best first."""
        rows, self._waiting = list(self._waiting), {}
        for row, drafts in zip(rows, answers, strict=True):
            self._advance(row, self._courses[row], drafts)

    def _advance(self, row: int, course: _Course, drafts: list[Draft] | None) -> None:
        try:
            self._waiting[row] = next(course) if drafts is None else course.send(drafts)
        except StopIteration as done:
            self.drafts[row] = done.value


def _course(line: Line, steps: Sequence[Step]) -> _Course:
    """One line through the steps: yields what the model must read and returns the drafts."""
    passed = []
    for depth, step in enumerate(steps):
        if step.unsuited.isdisjoint(line.traits):
            inner, state = step.before(line)
            passed.append((depth, step, line, state))
            line = inner
    drafts = (yield line) if line.text else [Draft("")]
    for depth, step, outer, state in reversed(passed):
        for rank, draft in enumerate(drafts):
            result = step.after(outer, draft, state)
            while isinstance(result, Retry):
                retried = yield from _course(result.line, steps[depth + 1 :])
                result = result.then(retried[0] if retried else None)
            drafts[rank] = result
    return drafts
