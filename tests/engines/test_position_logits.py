"""What each source position alone votes for: the maximum over positions is what is pooled."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from generated_models import SMALL, native, random_sentences, random_weights

from sieve.engines.native.native_engine import NativeEngine
from sieve.engines.torch.torch_engine import TorchEngine
from sieve.model.checkpoint import load_tensors
from sieve.model.transformer import TranslationModel
from sieve.tokenize.vocabulary import EOS

WEIGHTS = random_weights(SMALL, seed=1)
SENTENCES = [*random_sentences(3, 7, SMALL.src_vocab_size), np.array([EOS])]


def torch_engine() -> TorchEngine:
    model = TranslationModel(SMALL)
    load_tensors(model, WEIGHTS, "generated")
    return TorchEngine(model.eval())


ENGINES: dict[str, Callable[[], TorchEngine | NativeEngine]] = {
    "torch": torch_engine,
    "native": lambda: native(SMALL, WEIGHTS, threads=2),
    "native int8": lambda: native(SMALL, WEIGHTS, int8=True),
}


@pytest.mark.parametrize("name", ENGINES)
def test_the_maximum_over_positions_is_the_pooled_logit(name: str) -> None:
    engine: Any = ENGINES[name]()
    encoded = engine.encode(SENTENCES)
    found = engine.position_logits(encoded)
    assert [one.shape for one in found] == [(len(ids), SMALL.tgt_vocab_size) for ids in SENTENCES]
    pooled = np.stack([one.max(axis=0) for one in found])
    np.testing.assert_allclose(pooled, engine.bow_logits(encoded), atol=1e-5)


def test_both_engines_agree_on_every_position() -> None:
    engines: list[Any] = [ENGINES["torch"](), ENGINES["native"]()]
    torch_found, native_found = (one.position_logits(one.encode(SENTENCES)) for one in engines)
    for one, other in zip(torch_found, native_found, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)


def test_no_sentence_no_votes() -> None:
    engine = native(SMALL, WEIGHTS)
    assert engine.position_logits(engine.encode([])) == []
