"""Neural vocabulary selection heads: which output tokens will a source sentence need?

    z = maxpool(W H + b),  token i is selected when σ(z_i) > λ        (paper, section 3)

`full` has its own W (V x D). `tied` reuses the output embedding E through a small adapter:
W h becomes E · MLP(h). Both pool over the real source positions, EOS included. `factored` is either
of them with products of low rank r, and where there is a slack, a second look in full width at the
tokens that those leave. A head draws its initial weights from its own generator, so that adding one
changes nothing else in a model.
"""

from typing import Final, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sieve.bundle.config import ModelConfig
from sieve.model.pooling import pooled_logits
from sieve.tokenize.vocabulary import OWN, Specials

INIT_SEED = 20220715


class NvsHead(Protocol):
    """What the translation model asks of a head."""

    bias: nn.Parameter
    """b, (V,): the tokens' base rates."""

    def __call__(
        self,
        memory: Tensor,
        src_mask: Tensor,
        embedding: Tensor,
        tokens: Tensor | None = None,
        last_look: bool = False,
    ) -> Tensor:
        """Max-pooled logits (B, V) in float32 from memory (B, T, D) and the output embedding.

        With `tokens` (N,), theirs alone: (B, N). With `last_look`, of a head that looks twice,
        what it says at the second look.
        """


class Factors(nn.Module):
    """Products of low rank for a head's: w · x becomes (T w) · (P x), T and P of shape (r, D)."""

    def __init__(self, config: ModelConfig, generator: torch.Generator) -> None:
        super().__init__()
        self.tokens: Final = _linear(config.d_model, config.nvs_rank, bias=False)
        self.positions: Final = _linear(config.d_model, config.nvs_rank, bias=False)
        with torch.no_grad():
            # a projection on random directions; `factor_head` knows better ones
            nn.init.orthogonal_(self.tokens.weight, generator=generator)
            self.positions.weight.copy_(self.tokens.weight)


class _PooledHead(nn.Module):
    """z = max over t of w · x_t + b, the words w and the states x_t of a subclass's making."""

    def __init__(self, config: ModelConfig, generator: torch.Generator) -> None:
        super().__init__()
        self.bias: nn.Parameter = nn.Parameter(torch.zeros(config.tgt_vocab_size))
        self.factors: Final = Factors(config, generator) if config.factored else None
        self.slack: Final = config.nvs_slack

    def states(self, memory: Tensor) -> Tensor:
        """X (B, T, D) from memory (B, T, D)."""
        raise NotImplementedError

    def words(self, embedding: Tensor) -> Tensor:
        """W (V, D) with the output embedding at hand."""
        raise NotImplementedError

    def forward(
        self,
        memory: Tensor,
        src_mask: Tensor,
        embedding: Tensor,
        tokens: Tensor | None = None,
        last_look: bool = False,
    ) -> Tensor:
        """See NvsHead."""
        x, words = self.states(memory), self.words(embedding)
        bias: Tensor = self.bias
        if tokens is not None:
            words, bias = words[tokens], bias[tokens]
        if self.factors is None or (last_look and self.slack is not None):
            return _pooled(x, src_mask, words, bias)
        first = _pooled(self.factors.positions(x), src_mask, self.factors.tokens(words), bias)
        if self.slack is None:
            return first
        # as if all tokens were looked at twice: above any threshold by this are those that are
        # above it by a second look at what the first left within the slack
        return torch.minimum(_pooled(x, src_mask, words, bias), first + self.slack)


class TiedHead(_PooledHead):
    """w: the output embedding; x = W2 ReLU(W1 h)."""

    def __init__(self, config: ModelConfig) -> None:
        generator = torch.Generator().manual_seed(INIT_SEED)
        D, hidden = config.d_model, config.nvs_hidden or 2 * config.d_model
        super().__init__(config, torch.Generator().manual_seed(INIT_SEED + 1))
        self.hidden: Final = _linear(D, hidden)
        self.out: Final = _linear(hidden, D)
        with torch.no_grad():
            nn.init.xavier_uniform_(self.hidden.weight, generator=generator)
            nn.init.zeros_(self.hidden.bias)
            nn.init.zeros_(self.out.weight)  # training starts from the prior alone
            nn.init.zeros_(self.out.bias)

    def states(self, memory: Tensor) -> Tensor:
        """X (B, T, D) from memory (B, T, D)."""
        x: Tensor = self.out(F.relu(self.hidden(memory)))
        return x

    def words(self, embedding: Tensor) -> Tensor:
        """The output embedding."""
        return embedding


class FullHead(_PooledHead):
    """w: rows of an own matrix W (V, D); x = h. The paper's head."""

    def __init__(self, config: ModelConfig) -> None:
        generator = torch.Generator().manual_seed(INIT_SEED)
        super().__init__(config, torch.Generator().manual_seed(INIT_SEED + 1))
        V, D = config.tgt_vocab_size, config.d_model
        self.weight: Final = nn.Parameter(torch.empty(V, D).normal_(0.0, 0.01, generator=generator))

    def states(self, memory: Tensor) -> Tensor:
        """Memory itself."""
        return memory

    def words(self, embedding: Tensor) -> Tensor:
        """W; the output embedding is not used."""
        return self.weight


def build_head(config: ModelConfig) -> TiedHead | FullHead | None:
    """The head that the configuration names."""
    if config.nvs_head == "none":
        return None
    return TiedHead(config) if config.head_is_tied else FullHead(config)


def set_prior(
    head: NvsHead,
    document_frequency: Tensor,
    num_pairs: int,
    positive_weight: float,
    specials: Specials = OWN,
) -> None:
    """Starts the bias at the loss's optimum for a head that knows only how common tokens are.

    With a share p of sentences that contain a token, weighted cross-entropy is least at
    z = log(positive_weight · p / (1 − p)). Tokens never seen count as seen a tenth of a time;
    Padding, start and UNK are never needed and start below all others.

    Args:
        head: The head to initialise.
        document_frequency: Number of sentences that contain each target token, (V,).
        num_pairs: Number of sentences counted.
        positive_weight: λ_p of the loss.
        specials: Of the model.
    """
    total = float(num_pairs) + 1.0
    count = document_frequency.double().clamp(min=0.1, max=float(num_pairs) + 0.5)
    unneeded = sorted(specials.all - {specials.eos})
    count[unneeded] = count[unneeded].clamp(max=0.1)
    logits = torch.log(positive_weight * count / (total - count))
    with torch.no_grad():
        head.bias.copy_(logits.to(head.bias.dtype))


def _linear(inputs: int, outputs: int, bias: bool = True) -> nn.Linear:
    """Without weights: torch.nn.Linear would draw them from the shared generator."""
    return nn.Linear(inputs, outputs, bias=bias, device="meta").to_empty(device="cpu")


def _pooled(x: Tensor, mask: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    kind = x.device.type
    dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else x.dtype
    return pooled_logits(x.to(dtype), mask, weight.to(dtype), bias)
