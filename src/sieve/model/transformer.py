"""The translation model: embeddings, encoder, decoder, output layer and selection head.

Ids in, states and logits out. Knows neither losses nor search.
"""

import math
from dataclasses import dataclass
from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sieve.bundle.config import ModelConfig
from sieve.errors import ModelError
from sieve.model.decoder import Decoder
from sieve.model.encoder import Encoder
from sieve.model.layers import sinusoids
from sieve.model.nvs import build_head


@dataclass(frozen=True)
class Outputs:
    """What one teacher-forced pass gives."""

    memory: Tensor
    """Encoder states, (B, T, D)."""
    src_mask: Tensor
    """True for real source positions, (B, T)."""
    states: Tensor
    """Decoder states before the output layer, (B, U, D)."""
    alignment: Tensor | None
    """Log-probabilities of source positions per target position, (B, U, T), on request."""


class OutputLayer(nn.Module):
    """Equation 1 and, over a shortlist, equation 2: W h + b.

    Holds the bias, and the weights only where they are not shared with the target embedding.
    """

    def __init__(self, embedding: nn.Embedding, tied: bool) -> None:
        super().__init__()
        V, D = embedding.weight.shape
        self.weight: Final = embedding.weight if tied else nn.Parameter(torch.empty(V, D))
        self.bias: Final = nn.Parameter(torch.zeros(V))

    def forward(self, states: Tensor, ids: Tensor | None = None) -> Tensor:
        """Logits (…, V) of states (…, D), or (…, S) of the given token ids (S,) alone."""
        if ids is None:
            return F.linear(states, self.weight, self.bias)
        return F.linear(states, self.weight[ids], self.bias[ids])


class TranslationModel(nn.Module):
    """A whole model; built from its configuration alone."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.tgt_embedding: Final = nn.Embedding(config.tgt_vocab_size, config.d_model)
        self.src_embedding: Final = (
            self.tgt_embedding
            if config.tie == "all"
            else nn.Embedding(config.src_vocab_size, config.d_model)
        )
        self.encoder: Final = Encoder(config)
        self.decoder: Final = Decoder(config)
        self.output: Final = OutputLayer(self.tgt_embedding, tied=config.tie != "none")
        self.dropout: Final = nn.Dropout(config.dropout)
        self._initialise()
        # the head comes last: it must not move the other parts' random numbers
        self.nvs: Final = build_head(config)

    def forward(self, src_ids: Tensor, tgt_in: Tensor, with_alignment: bool = False) -> Outputs:
        """Teacher-forced pass: src_ids (B, T) as `Specials.source_ids` makes them, tgt_in (B, U).

        What tgt_in begins with stands at the place of the start (`Specials.first`).
        """
        memory, src_mask = self.encode(src_ids)
        x = self.dropout(self._embed_target(tgt_in))
        alignment = None
        if with_alignment:
            states, alignment = self.decoder.forward_aligned(x, memory, src_mask)
        else:
            states = self.decoder(x, memory, src_mask)
        return Outputs(memory, src_mask, states, alignment)

    def encode(self, src_ids: Tensor) -> tuple[Tensor, Tensor]:
        """Memory (B, T, D) and mask (B, T) of source ids (B, T)."""
        src_mask = src_ids != self.config.specials.fill
        x = self.dropout(self.embed_source(src_ids))
        return self.encoder(x, src_mask), src_mask

    def decode(self, tgt_in: Tensor, memory: Tensor, src_mask: Tensor) -> Tensor:
        """States (B, U, D) of tgt_in (B, U) after an encoded source; no dropout of its own."""
        return self.decoder(self._embed_target(tgt_in), memory, src_mask)

    def embed_source(self, src_ids: Tensor) -> Tensor:
        """What the encoder reads, (B, T, D), for source ids (B, T); no dropout."""
        return self._embed(self.src_embedding, src_ids)

    def positions(self, length: int) -> Tensor:
        """What is added to embedded tokens, (T, D), in the weights' precision."""
        config, like = self.config, self.tgt_embedding.weight
        D = config.d_model
        steps = D // 2 - (config.position_step == "half_minus_one")
        table = sinusoids(config.position_offset, length, D, like.device, steps)
        return table.to(like.dtype)

    @property
    def embedding_scale(self) -> float:
        """What embeddings are multiplied by."""
        return math.sqrt(self.config.d_model) if self.config.embedding_scale else 1.0

    def bow_logits(
        self,
        memory: Tensor,
        src_mask: Tensor,
        tokens: Tensor | None = None,
        last_look: bool = False,
    ) -> Tensor:
        """The selection head's max-pooled logits (B, V), float32; (B, N) of some tokens alone.

        With `last_look`, what a head that looks twice says at the second look.
        """
        if self.nvs is None:
            raise ModelError("this model has no selection head (model.nvs_head is 'none')")
        embedding = self.output.weight
        if self.config.nvs_detach:
            memory, embedding = memory.detach(), embedding.detach()
        logits: Tensor = self.nvs(memory, src_mask, embedding, tokens, last_look)
        return logits

    def translation_parameters(self) -> list[nn.Parameter]:
        """Everything but the selection head."""
        return [p for name, p in self.named_parameters() if not name.startswith("nvs.")]

    def nvs_parameters(self) -> list[nn.Parameter]:
        """The selection head's own parameters; empty without one."""
        return [] if self.nvs is None else list(self.nvs.parameters())

    def compile_layers(self) -> None:
        """Compiles one encoder and one decoder layer; all layers of a kind share the code."""
        for layer in (*self.encoder.layers, *self.decoder.layers):
            layer.compile(dynamic=True)

    def _embed(self, table: nn.Embedding, ids: Tensor) -> Tensor:
        if self.config.pad is None:
            ids = ids.clamp(min=0)  # what fills up a batch is no id
        return table(ids) * self.embedding_scale + self.positions(ids.shape[1])

    def _embed_target(self, tgt_in: Tensor) -> Tensor:
        x = self._embed(self.tgt_embedding, tgt_in)
        if self.config.start is None:
            x = torch.cat((self.positions(1).expand(len(x), 1, -1), x[:, 1:]), dim=1)
        return x

    def _initialise(self) -> None:
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
            elif isinstance(module, nn.Embedding):
                nn.init.normal_(module.weight, std=self.config.d_model**-0.5)
        if self.config.tie == "none":
            nn.init.normal_(self.output.weight, std=self.config.d_model**-0.5)
