"""Training of a selection head alone on stored encoder states."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from sieve.bundle.config import ModelConfig
from sieve.model.nvs import build_head, set_prior
from sieve.tokenize.vocabulary import IntArray, Specials
from sieve.train.attach.held_out import HeldOut
from sieve.train.attach.labels import Labels
from sieve.train.attach.quick_products import quicker_precision
from sieve.train.attach.sampled_loss import SampledLoss, Sampler
from sieve.train.update.loss import PositiveWeight

_WARMUP = 0.02  # share of the run in which the learning rate rises
_LAST_RATE = 0.02  # share of the learning rate that is left at the end
_CHECKS = 12  # looks at the held-out sentences during a run
_RECENT = 200  # updates whose loss is reported
_DECAY = 0.99  # of the running mean of the weights, which is the head that is kept
_TRIAL = 12  # updates that say how long learning takes


@dataclass(frozen=True)
class HeadOptions:
    """How a head is trained."""

    minutes: float = 5.0
    """Wall-clock minutes of training; less where nothing improves any more."""
    positive_weight: float | str = 1000.0
    """λ_p of the loss, or `auto:x`."""
    batch: int = 64
    """Sentences of an update."""
    sampled: int = 2048
    """Tokens drawn besides those that the batch needs."""
    learning_rate: float = 5e-3
    epochs: float = 7.0
    """Most passes over the text: more teach a head its text by heart."""
    size: int = 1000
    """Mean size of the shortlists at which progress is judged."""
    seed: int = 1


@dataclass(frozen=True)
class HeadProgress:
    """Where a run stands."""

    share: float
    """0 to 1."""
    loss: float
    own: float
    """Share of the held-out sentences' own tokens in shortlists of `size`."""
    reach: float
    """Share of the held-out sentences all of whose tokens are."""
    seconds: float = 0.0
    """Since the run began."""


def train_head(
    config: ModelConfig,
    embedding: Tensor,
    pieces: Sequence[Labels],
    held_out: HeldOut,
    options: HeadOptions,
    report: Callable[[HeadProgress], None] = lambda progress: None,
) -> tuple[dict[str, Tensor], HeadProgress]:
    """Trains a head on what the model writes; the best one by the held-out sentences is given back.

    Args:
        config: The model's shape, with the head that is wanted.
        embedding: The output embedding (V, D), which stays as it is; the head learns on its device.
        pieces: Sentences to learn from.
        held_out: Sentences to judge by.
        options: How.
        report: Told now and then how it goes.
    """
    learner = _Learner(config, embedding, pieces, held_out.specials, options)
    most = max(1.0, options.epochs * sum(-(-len(piece) // options.batch) for piece in pieces))
    begin, best = time.monotonic(), HeadProgress(0, 0, 0, -1.0)
    best_state = learner.mean.state_dict()
    next_check = 1 / _CHECKS
    while True:
        seconds = time.monotonic() - begin
        share = min(1.0, max(seconds / (60 * options.minutes), learner.updates / most))
        if share >= next_check or share >= 1:
            own, reach = held_out.measure(learner.mean, learner.embedding)
            now = HeadProgress(share, learner.recent_loss, own, reach, seconds)
            report(now)
            if (reach, own) > (best.reach, best.own):
                best = now
                best_state = {k: v.cpu().clone() for k, v in learner.mean.state_dict().items()}
            next_check += 1 / _CHECKS
        if share >= 1:
            return best_state, best
        learner.update(share)


def seconds_per_line(
    config: ModelConfig, embedding: Tensor, piece: Labels, specials: Specials, options: HeadOptions
) -> float:
    """What a pass over the text takes per line, from a few updates of a head that is dropped.

    Args:
        config: As for `train_head`.
        embedding: As for `train_head`.
        piece: Some sentences of the kind that is learnt from.
        specials: Of the target vocabulary.
        options: How the head will be trained.
    """
    learner = _Learner(config, embedding, [piece], specials, options)
    learner.update(0.0)  # the first one also takes what memory all need
    begin = time.monotonic()
    lines = sum(learner.update(0.0) for _ in range(_TRIAL))
    return (time.monotonic() - begin) / lines


class _Learner:
    """A head that learns, update by update, and the running mean of its weights."""

    def __init__(
        self,
        config: ModelConfig,
        embedding: Tensor,
        pieces: Sequence[Labels],
        specials: Specials,
        options: HeadOptions,
    ) -> None:
        self._options = options
        self._generator = torch.Generator().manual_seed(options.seed)
        V = config.tgt_vocab_size
        frequencies, number = _frequencies(pieces, V)
        weight = PositiveWeight.parse(options.positive_weight)
        head, mean = build_head(config), build_head(config)
        assert head is not None
        assert mean is not None
        typical = weight.typical(V, float(frequencies.sum()) / number)
        set_prior(head, frequencies, number, typical, specials)
        self._head = head.to(embedding.device)
        self.mean = mean.to(embedding.device)
        self.mean.load_state_dict(head.state_dict())
        self.embedding = embedding.to(quicker_precision(embedding.device))
        sampler = Sampler.by_frequency(frequencies, options.sampled)
        self._loss_of = SampledLoss(self.embedding, sampler, weight)
        self._optimizer = torch.optim.Adam(
            head.parameters(), lr=options.learning_rate, betas=(0.9, 0.98)
        )
        self._batches = _batches(pieces, options.batch, self._generator)
        self._losses = deque[Tensor](maxlen=_RECENT)
        self.updates = 0

    @property
    def recent_loss(self) -> float:
        """The mean of the last updates; 0 before the first."""
        return float(torch.stack(list(self._losses)).mean()) if self._losses else 0.0

    def update(self, share: float) -> int:
        """One step, at the learning rate of this share of the run; the lines it learned from."""
        for group in self._optimizer.param_groups:
            group["lr"] = self._options.learning_rate * _rate(share)
        labels, rows = next(self._batches)
        loss = self._loss_of(self._head, labels, rows, self._generator)
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self._head.parameters(), 1.0)
        self._optimizer.step()
        self._losses.append(loss.detach())
        self.updates += 1
        self._follow(min(_DECAY, self.updates / (self.updates + 10)))
        return len(rows)

    @torch.no_grad()
    def _follow(self, decay: float) -> None:
        """Moves the running mean towards the weights."""
        for average, weight in zip(self.mean.parameters(), self._head.parameters(), strict=True):
            average.lerp_(weight, 1 - decay)


def _frequencies(pieces: Sequence[Labels], V: int) -> tuple[Tensor, int]:
    """Number of sentences with each token, and of sentences."""
    counts = np.zeros(V, np.int64)
    for piece in pieces:
        for row in range(len(piece)):
            counts[np.unique(piece.targets(row))] += 1
    return torch.from_numpy(counts), sum(map(len, pieces))


def _batches(
    pieces: Sequence[Labels], size: int, generator: torch.Generator
) -> Iterator[tuple[Labels, IntArray]]:
    """Batches of sentences of similar length, for ever, in a new order each time."""
    while True:
        order = []
        for number, piece in enumerate(pieces):
            lengths = np.diff(piece.src_offsets)
            jitter = torch.rand(len(piece), generator=generator).numpy()
            rows = np.argsort(lengths + 4 * jitter, kind="stable")
            order += [(number, rows[at : at + size]) for at in range(0, len(rows), size)]
        for place in torch.randperm(len(order), generator=generator).tolist():
            number, rows = order[place]
            yield pieces[number], rows


def _rate(share: float) -> float:
    """Rises, then falls in a straight line."""
    if share < _WARMUP:
        return max(share / _WARMUP, 0.02)
    return _LAST_RATE + (1 - _LAST_RATE) * (1 - share) / (1 - _WARMUP)
