"""The same bytes from the kernels of every CPU: states, votes, tokens, scores, confidence."""

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from generated_models import SMALL, native, random_sentences, random_weights
from variants import VARIANTS

import sieve
from sieve.bundle.catalogue import built_in
from sieve.bundle.config import ModelConfig
from sieve.bundle.weights import parameter_shapes
from sieve.engines.native.native_engine import NativeEngine, available_kernels
from sieve.engines.options import Sampling, SearchOptions
from sieve.selection.selectors import FullVocabulary, NeuralSelection

KERNELS = available_kernels()
MODELS = VARIANTS | {
    "sieve": SMALL,
    "factored": replace(SMALL, nvs_head="factored", nvs_rank=20, nvs_slack=0.5),
}
BEAM = SearchOptions(beam_size=5, alignment=True, n_best=2, max_length_factor=1.0)
SEARCHES = [
    BEAM,
    SearchOptions(beam_size=1, lossless=True, max_length_factor=1.0),
    SearchOptions(beam_size=3, length_penalty=0.6, max_length_factor=1.0),
    SearchOptions(sampling=Sampling(), max_length_factor=1.0),
]

RECORDED = "aa517b8b8ff291c3"


def everything(engine: NativeEngine, config: ModelConfig) -> list[Any]:
    """What an engine says of some sentences, floats as bytes."""
    sentences = random_sentences(1, 12, config.src_vocab_size, longest=40, eos=config.eos)
    encoded = engine.encode(sentences)
    selector = FullVocabulary() if config.nvs_head == "none" else NeuralSelection(0.4)
    found: list[Any] = [engine.source_states(encoded).tobytes()]
    if config.nvs_head != "none":
        found.append(engine.bow_logits(encoded).tobytes())
    for options in SEARCHES:
        for ranked in engine.translate(sentences, selector, options):
            found += [(h.tokens, h.positions, h.margin) for h in ranked]
            found += [np.array(h.token_scores, np.float32).tobytes() for h in ranked]
    targets = [[int(id) % config.tgt_vocab_size for id in ids[:-1]] for ids in sentences]
    for hypothesis in engine.score(sentences, targets, FullVocabulary()):
        found.append(np.array(hypothesis.token_scores, np.float32).tobytes())
    return found


@pytest.mark.parametrize("int8", [True, False], ids=["int8", "float32"])
@pytest.mark.parametrize("name", MODELS)
def test_all_kernels_give_the_same_bytes(name: str, int8: bool) -> None:
    config = MODELS[name]
    weights = random_weights(config, seed=3)
    engines = [native(config, weights, int8=int8, kernels=kernels) for kernels in KERNELS]
    first, *others = [everything(engine, config) for engine in engines]
    for other in others:
        assert other == first


@pytest.mark.parametrize("width", [32, 96, 100, 256])
def test_widths_that_vectors_do_not_divide(width: int) -> None:
    config = ModelConfig(
        src_vocab_size=70, tgt_vocab_size=70, encoder_layers=1, decoder_layers=1,
        d_model=width, d_ff=width, heads=2, tie="none", dropout=0.0, decoder_mixer="attention",
    )  # fmt: skip
    weights = random_weights(config)
    states = [
        everything(native(config, weights, int8=True, kernels=kernels), config)
        for kernels in KERNELS
    ]
    assert all(found == states[0] for found in states)


def test_recorded_bytes() -> None:
    """Recorded on x86-64; other CPUs must give them, too. Changed arithmetic changes them."""
    rng = np.random.default_rng(0)
    weights = {
        name: (rng.integers(-127, 128, shape) / 1024 + name.endswith("norm.weight")).astype("f4")
        for name, shape in sorted(parameter_shapes(SMALL).items())
    }
    for kernels in KERNELS:
        engine = native(SMALL, weights, int8=True, kernels=kernels)
        sentences = random_sentences(2, 8, SMALL.src_vocab_size, longest=30)
        encoded = engine.encode(sentences)
        found = hashlib.sha256(engine.source_states(encoded).tobytes())
        for [best, *_] in engine.translate(sentences, FullVocabulary(), BEAM):
            found.update(np.array(best.token_scores, np.float32).tobytes())
        assert found.hexdigest()[:16] == RECORDED


@pytest.mark.parametrize("pair", ["en-de", "de-en"])
def test_built_in_models(pair: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if pair not in built_in():
        pytest.skip(f"the built-in model {pair} is not here")
    lines = {
        "en-de": ["Good morning.", "The committee will meet again on 12 March to discuss it."],
        "de-en": ["Guten Morgen.", "Der Ausschuss tritt am 12. März wieder zusammen."],
    }[pair]
    found = []
    for kernels in KERNELS:
        monkeypatch.setenv("SIEVE_KERNELS", kernels)
        translator = sieve.load(pair, threads=1)
        assert kernels in str(translator.engine)
        found.append([translator.translate(lines, beam_size=beam) for beam in (5, 1)])
    assert all(translations == found[0] for translations in found)
