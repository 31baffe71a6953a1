"""What a search over all tokens finds, from a greedy search over selected tokens that is checked.

A whole batch is searched with the selected tokens; one teacher-forced pass then says for every step
which of all tokens was the best. Where it is another, that token joins the shortlist and the
sentence is searched again from there. The tokens of a step are compared in blocks: logits of all
steps and all tokens are never in memory together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor

from sieve.engines.engine import Hypothesis
from sieve.engines.options import SearchOptions
from sieve.selection.plan import Selector
from sieve.selection.shortlist import Shortlist
from sieve.tokenize.vocabulary import IntArray

if TYPE_CHECKING:
    from sieve.engines.torch.torch_engine import TorchEncoded, TorchEngine

_BLOCK = 4096
"""Tokens that are compared at a time."""
_PATIENCE = 3
"""Returns after which a sentence is searched with all tokens."""


@dataclass(frozen=True)
class Verdicts:
    """What all tokens say of every step of some translations, (B, U) each."""

    best: Tensor
    best_scores: Tensor
    chosen_scores: Tensor


def translate_lossless(
    engine: TorchEngine,
    src_ids: Sequence[IntArray],
    selection: Selector,
    options: SearchOptions,
    prefixes: Sequence[Sequence[int]] | None,
) -> list[list[Hypothesis]]:
    """See `SearchOptions.lossless`."""
    plain = replace(options, lossless=False)
    encoded = engine.encode(src_ids)
    plan = selection.plan()
    exclude = plan.exclude
    given = [list(prefix) for prefix in prefixes or [()] * len(src_ids)]
    config = engine.model.config
    odd = (
        config.never
        or config.forced_start
        or options.sampling is not None
        or options.blocked
        or any(map(set(exclude).intersection, given))
    )
    if options.rows > 1 or odd:
        return engine.decode(encoded, plan.unrestricted().select(encoded), plain, prefixes)
    search = _Search(engine, encoded, list(plan.select(encoded)), exclude, given, plain)
    return [[hypothesis] for hypothesis in search.run()]


class _Search:
    """The state of a lossless search for a batch."""

    def __init__(
        self,
        engine: TorchEngine,
        encoded: TorchEncoded,
        selected: list[Shortlist],
        exclude: tuple[int, ...],
        prefixes: list[list[int]],
        options: SearchOptions,
    ) -> None:
        self.engine = engine
        self.encoded = encoded
        self.selected = selected
        self.exclude = exclude
        self.required = list(map(len, prefixes))
        self.sure = prefixes  # tokens that nothing will change
        self.options = options
        self.returns = [0] * len(prefixes)

    def run(self) -> list[Hypothesis]:
        """The translation of each sentence."""
        done: dict[int, Hypothesis] = {}
        waiting = list(range(len(self.sure)))
        while waiting:
            part = self.encoded.rows(waiting)
            ranked = self.engine.decode(
                part,
                [self.selected[row] for row in waiting],
                self.options,
                [self.sure[row] for row in waiting],
            )
            guesses = [hypotheses[0] for hypotheses in ranked]
            verdicts = check(self.engine, part, guesses, self.exclude)
            for place, (row, guess) in enumerate(zip(waiting, guesses, strict=True)):
                hypothesis = self._judged(row, guess, verdicts, place)
                if hypothesis is not None:
                    done[row] = hypothesis
            waiting = [row for row in waiting if row not in done]
        return [done[row] for row in range(len(self.sure))]

    def _judged(
        self, row: int, guess: Hypothesis, verdicts: Verdicts, place: int
    ) -> Hypothesis | None:
        """A translation that all tokens agree with; None where it goes on from another token."""
        steps = len(guess.token_scores)
        eos = self.engine.specials.eos
        said = [*guess.tokens, eos][:steps]
        best = verdicts.best[place, :steps].tolist()
        scores = verdicts.chosen_scores[place, :steps].tolist()
        wrong = next((t for t in range(self.required[row], steps) if said[t] != best[t]), None)
        if wrong is None:
            return replace(guess, token_scores=tuple(scores), returns=self.returns[row])
        self.returns[row] += 1
        word = best[wrong]
        scores[wrong] = float(verdicts.best_scores[place, wrong])
        if word == eos:
            return Hypothesis(
                guess.tokens[:wrong],
                tuple(scores[: wrong + 1]),
                guess.shortlist_size,
                guess.positions[:wrong],
                self.returns[row],
            )
        self.sure[row] = [*guess.tokens[:wrong], word]
        self.selected[row] = self.selected[row].with_tokens([word])
        if self.returns[row] == _PATIENCE:
            every = Shortlist.everything(self.engine.vocab_size, eos)
            self.selected[row] = every.without(self.exclude)
        return None


def check(
    engine: TorchEngine,
    encoded: TorchEncoded,
    guesses: Sequence[Hypothesis],
    exclude: Sequence[int] = (),
) -> Verdicts:
    """One teacher-forced pass over translations, with all tokens but the excluded ones."""
    eos = engine.specials.eos
    tgt_in, tgt_out = engine.teacher_forced([guess.tokens for guess in guesses])
    weight, bias = engine.model.output.weight, engine.model.output.bias.clone()
    bias[[word for word in exclude if word != eos]] = -math.inf
    with engine.inference():
        states = engine.model.decode(tgt_in, encoded.memory, encoded.src_mask)  # (B, U, D)
        top = torch.full(tgt_out.shape, -math.inf, device=engine.device)
        best, chosen = torch.full_like(tgt_out, eos), top.clone()
        total = torch.zeros_like(top)
        for begin in range(0, len(bias), _BLOCK):
            end = min(begin + _BLOCK, len(bias))
            logits = F.linear(states, weight[begin:end], bias[begin:end]).float()
            highest, column = logits.max(dim=-1)
            higher = torch.maximum(top, highest)
            # where nothing was allowed so far, exp(−inf − −inf) would be no number
            floor = higher.clamp(min=torch.finfo(torch.float32).min)
            total = total * (top - floor).exp() + (logits - floor[..., None]).exp().sum(-1)
            best = torch.where(highest > top, column + begin, best)
            here = (tgt_out >= begin) & (tgt_out < end)
            place = (tgt_out - begin).clamp(0, end - begin - 1)
            chosen = torch.where(here, logits.gather(2, place[..., None])[..., 0], chosen)
            top = higher
        log_sum = top + total.log()
    return Verdicts(best, top - log_sum, chosen - log_sum)
