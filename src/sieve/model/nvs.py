"""Neural vocabulary selection heads: which output tokens will a source sentence need?

    z = maxpool(W H + b),  token i is selected when σ(z_i) > λ        (paper, section 3)

`full` has its own W (V x D). `tied` reuses the output embedding E through a small adapter:
W h becomes E · MLP(h). Both pool over the real source positions, EOS included. A head draws its
initial weights from its own generator, so that adding one changes nothing else in a model.
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
        self, memory: Tensor, src_mask: Tensor, embedding: Tensor, tokens: Tensor | None = None
    ) -> Tensor:
        """Max-pooled logits (B, V) in float32 from memory (B, T, D) and the output embedding.

        With `tokens` (N,), theirs alone: (B, N).
        """


class TiedHead(nn.Module):
    """z = max over t of E · W2 ReLU(W1 h_t) + b, E the output embedding (V, D)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        D, hidden = config.d_model, config.nvs_hidden or 2 * config.d_model
        generator = torch.Generator().manual_seed(INIT_SEED)
        # torch.nn.Linear would draw its weights from the shared generator: build it without.
        self.hidden: Final = nn.Linear(D, hidden, device="meta").to_empty(device="cpu")
        self.out: Final = nn.Linear(hidden, D, device="meta").to_empty(device="cpu")
        self.bias: nn.Parameter = nn.Parameter(torch.zeros(config.tgt_vocab_size))
        with torch.no_grad():
            nn.init.xavier_uniform_(self.hidden.weight, generator=generator)
            nn.init.zeros_(self.hidden.bias)
            nn.init.zeros_(self.out.weight)  # training starts from the prior alone
            nn.init.zeros_(self.out.bias)

    def forward(
        self, memory: Tensor, src_mask: Tensor, embedding: Tensor, tokens: Tensor | None = None
    ) -> Tensor:
        """See NvsHead."""
        adapted = self.out(F.relu(self.hidden(memory)))
        if tokens is None:
            return _pooled(adapted, src_mask, embedding, self.bias)
        return _pooled(adapted, src_mask, embedding[tokens], self.bias[tokens])


class FullHead(nn.Module):
    """z = max over t of W h_t + b with its own W: the paper's head."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(INIT_SEED)
        V, D = config.tgt_vocab_size, config.d_model
        self.weight: Final = nn.Parameter(torch.empty(V, D).normal_(0.0, 0.01, generator=generator))
        self.bias: nn.Parameter = nn.Parameter(torch.zeros(V))

    def forward(
        self, memory: Tensor, src_mask: Tensor, embedding: Tensor, tokens: Tensor | None = None
    ) -> Tensor:
        """See NvsHead; the output embedding is not used."""
        if tokens is None:
            return _pooled(memory, src_mask, self.weight, self.bias)
        return _pooled(memory, src_mask, self.weight[tokens], self.bias[tokens])


def build_head(config: ModelConfig) -> TiedHead | FullHead | None:
    """The head that the configuration names."""
    if config.nvs_head == "none":
        return None
    return TiedHead(config) if config.nvs_head == "tied" else FullHead(config)


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


def _pooled(x: Tensor, mask: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    kind = x.device.type
    dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else x.dtype
    return pooled_logits(x.to(dtype), mask, weight.to(dtype), bias)
