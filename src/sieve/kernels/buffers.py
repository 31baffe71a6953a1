"""What kernels read and write: tensors by name. The engines put layers and searches together."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Cells:
    """An SSRU's cells in float32, those before and those after a step."""

    halves: Tensor
    """(2, N, D): a step at an even position reads the first half and writes the second."""
    position: Tensor
    """(1,)"""
    parents: Tensor
    """(N,) the row that each row continues."""


@dataclass(frozen=True)
class Rows:
    """Rows x (N, D), with sums of parts of each row for the norm that follows."""

    x: Tensor
    sums: Tensor
    """(2, N, C) float32: of C parts of each row, values and squares."""


@dataclass(frozen=True)
class Folded:
    """A linear map after a layer norm, or one alone."""

    weight: Tensor
    """(F, D), times the norm's weight."""
    bias: Tensor
    """(F,) float32 where a norm is folded in: the map's, and what the norm's becomes."""
    sums: Tensor | None = None
    """(F,) sums of the weight's rows in float32; None without a norm."""
    eps: float = 0.0


@dataclass(eq=False)
class BeamBuffers:
    """State of a search over B sentences with K hypotheses, R candidates and U steps."""

    score: Tensor
    """(B, K) float32: summed log-probabilities of living hypotheses, best first; −inf for none."""
    ids: Tensor
    """(B, K) newest token of each."""
    done: Tensor
    """(B,) bool: nothing better can follow."""
    final: Tensor
    """(B, K) normalised scores of finished hypotheses; −inf for none."""
    final_at: Tensor
    """(B, K) where they ended: step · R + rank among its candidates; −1 for none."""
    limit: Tensor
    """(B,) most tokens, EOS included."""
    ceiling: Tensor
    """(B,) limit**−α: no hypothesis of score s can end better than s · ceiling."""
    weights: Tensor
    """(U + 1,) length**−α."""
    position: Tensor
    """(1,) steps made. The search moves it."""
    history: Tensor
    """(U, B, R) candidates of each step: beam · 2³² + id."""
    log_probs: Tensor
    """(U, B, R) of their newest token."""
    alive: Tensor
    """(U, B, K) the candidates that lived on."""
    offsets: Tensor
    """(B, 1) first row of each sentence: b · K."""
    parents: Tensor
    """(N,) the row that each row continues since the last step."""
    ticket: Tensor
    """(1,) sentences through with a step, for the kernel that moves the position itself."""
    aligned: Tensor | None
    """(U, B, K) source positions that the hypotheses looked at, on request."""
    enough: int
    """Finished hypotheses that end a sentence whatever may follow."""
    n_best: int
    first: int
    """Id at the place of the start."""
    eos: int
    """Id that ends a hypothesis."""


def chunk_width(columns: int) -> int:
    """Columns of a chunk: about as many as there are chunks to choose from."""
    return 64 if columns >= 8192 else 32
