"""Learning rates: a pure function of the step and of how much of the budget is spent."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """Warm-up, then inverse square root, linear decay to zero at the end of the budget, or flat."""

    kind: str
    """`inverse_sqrt`, `linear` or `constant`."""
    peak: float
    warmup: int
    ramp: int | None = None
    """Updates of a shorter re-warm-up for weights that are already trained; None: `warmup`."""

    def rate(self, step: int, progress: float = 0.0, warm_progress: float = 0.0) -> float:
        """The learning rate of optimizer step `step` (the first is 1).

        inverse_sqrt: peak · min(t / warmup, √(warmup / t)), which is Vaswani et al.'s
        d^-½ · min(t^-½, t · warmup^-1.5) written by its peak. linear: peak · t / warmup, then
        peak · (1 − progress) / (1 − warm_progress). constant: the peak after the warm-up.

        Args:
            step: Optimizer steps, this one included.
            progress: Share of the budget (updates or minutes) spent before this step, 0 to 1.
            warm_progress: The same share at the end of the warm-up.
        """
        ramp = self.warm_steps
        rising = step / ramp if step < ramp else 1.0
        if self.kind == "inverse_sqrt":
            falling = (self.warmup / step) ** 0.5 if step > self.warmup else 1.0
        elif self.kind == "constant":
            falling = 1.0
        else:
            rest = max(1.0 - warm_progress, 1e-9)
            falling = max(0.0, (1.0 - progress) / rest) if step > ramp else 1.0
        return self.peak * min(rising, falling, 1.0)

    @property
    def warm_steps(self) -> int:
        """Steps until the peak is reached."""
        return self.warmup if self.ramp is None else min(self.ramp, self.warmup)


def rescaled(warm_progress: float, spent: float, share: float) -> float:
    """`warm_progress` for a budget that changed, such that a falling rate continues from its value.

    Args:
        warm_progress: Share of the old budget that was spent at the end of the warm-up.
        spent: Share of the old budget that is spent now, below 1.
        share: The same time or number of updates as a share of the new budget.

    Returns:
        The value with which (1 − share) / (1 − result) is (1 − spent) / (1 − warm_progress); below
        0 where the budget grew by much.
    """
    return 1.0 - (1.0 - share) * (1.0 - warm_progress) / (1.0 - spent)
