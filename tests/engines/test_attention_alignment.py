import numpy as np
import pytest
import torch

from sieve.bundle.config import ModelConfig
from sieve.data.corpus import Ragged
from sieve.data.corpus_writer import ragged
from sieve.engines.torch.attention_alignment import AttentionAligner, Heads
from sieve.model.transformer import TranslationModel
from sieve.tokenize.vocabulary import BOS, EOS

SRC = ragged([[5, 6, 7], [8], [], [9, 10, 11, 12, 13], [5]])
TGT = ragged([[14, 15], [16, 17, 18], [5], [19, 20], []])


def model() -> TranslationModel:
    torch.manual_seed(1)
    made = TranslationModel(ModelConfig(24, 24, 1, 2, 16, 32, 2)).eval()
    # attention that is far from even, so that the order of the weights is not a matter of rounding
    with torch.no_grad():
        for layer in made.decoder.layers:
            layer.cross.query.weight *= 20  # type: ignore[union-attr, operator]
    return made


def one(made: TranslationModel, heads: Heads, pair: int) -> list[list[int]]:
    """The links of one pair, from attention weights computed here for it alone."""
    src_ids = torch.tensor([[*SRC[pair].tolist(), EOS]])
    tgt_in = torch.tensor([[BOS, *TGT[pair].tolist()]])
    seen: list[torch.Tensor] = []
    cross = made.decoder.layers[-1].get_submodule("cross")

    def watch(module: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
        x, keys_values, _ = inputs
        query = cross.get_submodule("query")(x)[0].reshape(-1, 2, 8)
        scores = torch.einsum("uhd,htd->hut", query, keys_values[0, 0]) / 8**0.5
        seen.append(scores.softmax(-1))

    handle = cross.register_forward_pre_hook(watch)
    with torch.no_grad():
        made(src_ids, tgt_in)
    handle.remove()
    weights = seen[0][0] if heads == "guided" else seen[0].mean(0)
    best = weights[: len(TGT[pair])].argmax(-1).tolist()
    return [[i, j] for j, i in enumerate(best) if i < len(SRC[pair])]


@pytest.mark.parametrize("heads", ["guided", "average"])
@pytest.mark.parametrize("batch_tokens", [1, 10_000])
def test_links_of_each_pair_alone_and_in_batches(heads: Heads, batch_tokens: int) -> None:
    made = model()
    links = AttentionAligner(made, heads, batch_tokens).align(SRC, TGT)
    assert len(links) == len(SRC)
    for pair in (0, 1, 3):
        assert links.links(pair).tolist() == one(made, heads, pair)
    assert len(links.links(2)) == len(links.links(4)) == 0  # one side is empty
    links.check(SRC.lengths, TGT.lengths, "links")
    assert links.offsets[-1] > 0


def test_nothing_to_align() -> None:
    nothing = Ragged(np.empty(0, np.int32), np.zeros(1, np.int64))
    assert len(AttentionAligner(model(), "average").align(nothing, nothing)) == 0
