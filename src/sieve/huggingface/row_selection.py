"""The output projection of a model of transformers over the rows that a head selects.

Nothing of the model is replaced: one hook notices a new batch by its encoder states, and the
projection's `forward` multiplies by the rows that were gathered for it. The scores are spread to
their full width again, which costs a fill of memory, V numbers beside the V·D of the product.
"""

from types import TracebackType
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sieve.errors import ConfigError, ModelError
from sieve.selection.selectors import NeuralSelection

_FAMILIES = ("marian", "m2m_100")


class RowSelection:
    """A head's selection in a model, until `undo`; also a context manager."""

    def __init__(self, model: Any, head: nn.Module, selection: NeuralSelection) -> None:
        votes = selection.plan().votes
        assert votes is not None
        self._votes = votes
        self._head = head
        self._projection = self.projection(model)
        if "forward" in vars(self._projection):
            raise ConfigError("select: this model has a selection already; undo that first")
        self._always = _ends(model)
        self._states: Tensor | None = None
        self._rows: _Rows | None = None
        self._active = True
        self._hook = model.register_forward_pre_hook(self._before, with_kwargs=True)
        self._projection.forward = self._project  # type: ignore[method-assign, assignment]

    @staticmethod
    def projection(model: Any) -> nn.Linear:
        """The output projection of a model that this works for."""
        kind = getattr(getattr(model, "config", None), "model_type", type(model).__name__)
        layer = getattr(model, "lm_head", None)
        if kind not in _FAMILIES or type(layer) is not nn.Linear:
            raise ModelError(
                f"select: got a model of type {kind} with a {type(layer).__name__} as output "
                "projection, expected MarianMT, M2M100 or NLLB with a Linear"
            )
        return layer

    @property
    def sizes(self) -> list[int]:
        """Tokens in the shortlist of each sentence of the latest batch."""
        return [] if self._rows is None else self._rows.sizes

    @property
    def rows(self) -> int:
        """Rows that a step of the latest batch multiplies: those that any sentence selected."""
        return 0 if self._rows is None else len(self._rows.weight)

    def undo(self) -> None:
        """Leaves the model as it was; a second time does nothing."""
        if self._active:
            self._hook.remove()
            del self._projection.forward
        self._active, self._states, self._rows = False, None, None

    def __enter__(self) -> "RowSelection":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.undo()

    def _before(self, model: nn.Module, inputs: tuple[Any, ...], named: dict[str, Any]) -> None:
        """Selects when a forward pass brings new encoder states; without any it is left alone."""
        outputs = named.get("encoder_outputs")
        if outputs is None:
            self._states = self._rows = None
        elif outputs[0] is not self._states:
            self._states = outputs[0]
            self._rows = self._select(outputs[0], named.get("attention_mask"))

    @torch.no_grad()
    def _select(self, states: Tensor, mask: Tensor | None) -> "_Rows":
        """The rows for N sequences: beams of a sentence have the same states (N, T, D)."""
        equal = (states[1:] == states[:-1]).flatten(1).all(1)
        new = torch.cat([equal.new_ones(1), ~equal])
        first, sentence = new.nonzero().flatten(), new.cumsum(0) - 1  # (B,), (N,)
        if mask is None:
            mask = states.new_ones(states.shape[:2])
        weight = self._projection.weight
        logits = self._head(states[first], mask[first].bool(), weight)  # (B, V)
        sources = [np.flatnonzero(row) for row in mask[first].numpy(force=True)]
        selected = logits > torch.from_numpy(self._votes.cuts(sources)).to(logits.device)[:, None]
        if self._votes.least:
            most = min(self._votes.least, logits.shape[1])
            selected |= logits >= logits.topk(most).values[:, -1:]
        selected[:, self._always] = True
        return _Rows(selected, sentence if len(first) > 1 else None, self._projection)

    def _project(self, hidden: Tensor) -> Tensor:
        rows = self._rows
        if rows is None:
            return F.linear(hidden, self._projection.weight, self._projection.bias)
        return rows.project(hidden)


class _Rows:
    """The gathered rows of a batch, (S, D)."""

    def __init__(self, selected: Tensor, sentence: Tensor | None, projection: nn.Linear) -> None:
        self.sizes: list[int] = selected.sum(1).tolist()
        self._ids = selected.any(0).nonzero().flatten()  # (S,)
        self.weight = projection.weight[self._ids]
        self._bias = None if projection.bias is None else projection.bias[self._ids]
        self._width = selected.shape[1]
        self._forbidden: Tensor | None = None
        if sentence is not None:  # what others of the batch selected: (N, 1, S)
            self._forbidden = ~selected[:, self._ids][sentence, None]

    def project(self, hidden: Tensor) -> Tensor:
        """Scores (N, U, V) of states (N, U, D), −inf for what is not selected."""
        logits = F.linear(hidden, self.weight, self._bias)
        if self._forbidden is not None:
            logits = logits.masked_fill_(self._forbidden, -torch.inf)
        scores = logits.new_full((*logits.shape[:-1], self._width), -torch.inf)
        return scores.index_copy_(-1, self._ids, logits)


def _ends(model: Any) -> list[int]:
    """Ids that end a translation: every shortlist holds them."""
    ids: list[int] = []
    for settings in (model.config, model.generation_config):
        end = settings.eos_token_id
        ids += end if isinstance(end, list) else [end] * (end is not None)
    return sorted(set(ids))
