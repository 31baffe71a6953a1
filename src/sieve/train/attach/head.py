"""Training of a selection head alone on stored encoder states.

The paper's loss (weighted cross-entropy of max-pooled logits, normalised by
Z = V + (λ_p − 1) · n_p) over a sample of the words: all that some sentence of the batch needs, and
others drawn evenly, which stand for those that were not drawn.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sieve.bundle.config import ModelConfig
from sieve.model.nvs import FullHead, TiedHead, build_head, set_prior
from sieve.model.pooling import pooled_projection
from sieve.tokenize.vocabulary import IntArray
from sieve.train.attach.labels import Labels

_WARMUP = 0.02  # share of the run in which the learning rate rises
_LAST_RATE = 0.02  # share of the learning rate that is left at the end
_CHECKS = 12  # looks at the held-out sentences during a run


@dataclass(frozen=True)
class HeadOptions:
    """How a head is trained."""

    minutes: float = 5.0
    """Wall-clock minutes of training; less where nothing improves any more."""
    positive_weight: float = 1000.0
    """λ_p of the loss."""
    batch: int = 64
    """Sentences of an update."""
    sampled: int = 4096
    """Words drawn besides those that the batch needs."""
    learning_rate: float = 2e-3
    epochs: float = 12.0
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


class HeldOut:
    """Sentences that training never sees, and what a head reaches of them."""

    def __init__(self, labels: Labels, size: int, eos: int) -> None:
        self._labels = labels
        self._size = size
        self._eos = eos

    @torch.no_grad()
    def measure(self, head: nn.Module, embedding: Tensor) -> tuple[float, float]:
        """Recall of own tokens, and the share of sentences wholly in reach, at a mean size."""
        rows = range(len(self._labels))
        needed, kept = [], []
        for start in range(0, len(rows), 64):
            batch = rows[start : start + 64]
            logits = head_logits(head, *padded_states(self._labels, batch), embedding)
            logits[:, self._eos] = -torch.inf
            for row, index in zip(logits, batch, strict=True):
                wanted = np.unique(self._labels.targets(index))
                needed.append(row[torch.from_numpy(wanted[wanted != self._eos]).long()].numpy())
            kept.append(logits.topk(min(4 * self._size, logits.shape[1])).values.flatten())
        places = (self._size - 1) * len(rows)
        cut = torch.cat(kept).sort(descending=True).values[places].item()
        shares = [float((margins > cut).mean()) for margins in needed if len(margins)]
        return float(np.mean(shares)), float(np.mean([share == 1.0 for share in shares]))


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
        embedding: The output embedding (V, D), which stays as it is.
        pieces: Sentences to learn from.
        held_out: Sentences to judge by.
        options: How.
        report: Told now and then how it goes.
    """
    generator = torch.Generator().manual_seed(options.seed)
    head = build_head(config)
    assert head is not None
    set_prior(head, *_frequencies(pieces, config.tgt_vocab_size), options.positive_weight)
    optimizer = torch.optim.Adam(head.parameters(), lr=options.learning_rate, betas=(0.9, 0.98))
    batches = _batches(pieces, options.batch, generator)
    per_epoch = sum(-(-len(piece) // options.batch) for piece in pieces)
    begin, best, best_state = time.monotonic(), HeadProgress(0, 0, 0, -1.0), {}
    losses: list[float] = []
    next_check, step = 1 / _CHECKS, 0
    while True:
        spent = (time.monotonic() - begin) / (60 * options.minutes)
        share = min(1.0, max(spent, step / max(1.0, options.epochs * per_epoch)))
        if share >= next_check or share >= 1:
            own, reach = held_out.measure(head, embedding)
            now = HeadProgress(share, float(np.mean(losses[-200:] or [0.0])), own, reach)
            report(now)
            if (reach, own) > (best.reach, best.own):
                best = now
                best_state = {k: v.detach().clone() for k, v in head.state_dict().items()}
            next_check += 1 / _CHECKS
        if share >= 1:
            return best_state, best
        for group in optimizer.param_groups:
            group["lr"] = options.learning_rate * _rate(share)
        piece, rows = next(batches)
        loss = _loss(head, embedding, piece, rows.tolist(), options, generator)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(head.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        step += 1


def head_logits(head: nn.Module, states: Tensor, mask: Tensor, embedding: Tensor) -> Tensor:
    """Max-pooled logits (B, V) of a head."""
    logits: Tensor = head(states, mask, embedding)
    return logits


def padded_states(labels: Labels, rows: Sequence[int]) -> tuple[Tensor, Tensor]:
    """States (B, T, D) in float32 and their mask (B, T)."""
    sentences = [labels.source(row) for row in rows]
    longest = max(map(len, sentences))
    states = torch.zeros(len(rows), longest, labels.states.shape[1])
    mask = torch.zeros(len(rows), longest, dtype=torch.bool)
    for place, sentence in enumerate(sentences):
        states[place, : len(sentence)] = torch.from_numpy(sentence.astype(np.float32))
        mask[place, : len(sentence)] = True
    return states, mask


def _loss(
    head: TiedHead | FullHead,
    embedding: Tensor,
    labels: Labels,
    rows: Sequence[int],
    options: HeadOptions,
    generator: torch.Generator,
) -> Tensor:
    """Mean over sentences of the loss over sampled words."""
    V = len(head.bias)
    targets = [np.unique(labels.targets(row)) for row in rows]
    positive = np.unique(np.concatenate(targets)).astype(np.int64)
    drawn = torch.randint(V, (options.sampled,), generator=generator).numpy()
    others = np.setdiff1d(drawn, positive)
    words = torch.from_numpy(np.concatenate([positive, others]))
    wanted = torch.zeros(len(rows), len(words), dtype=torch.bool)
    for place, ids in enumerate(targets):
        wanted[place, torch.from_numpy(np.searchsorted(positive, ids))] = True
    states, mask = padded_states(labels, rows)
    x, weight = _projected(head, states, embedding, words)
    z = pooled_projection(x, mask, weight) + head.bias[words]
    number = torch.tensor([len(ids) for ids in targets], dtype=torch.float32)
    total = V + (options.positive_weight - 1) * number
    stand_for = torch.ones(len(words))
    stand_for[len(positive) :] = (V - len(positive)) / max(1, len(others))
    cost = torch.where(wanted, options.positive_weight * F.softplus(-z), F.softplus(z) * stand_for)
    return (cost.sum(1) / total).mean() * 100  # of a size that gradient clipping knows


def _projected(
    head: TiedHead | FullHead, states: Tensor, embedding: Tensor, words: Tensor
) -> tuple[Tensor, Tensor]:
    if isinstance(head, TiedHead):
        return head.out(F.relu(head.hidden(states))), embedding[words]
    return states, head.weight[words]


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
