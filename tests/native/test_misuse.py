"""The native engine given what it cannot take: clear errors, never a crash."""

import copy
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from generated_models import SMALL, Given, native, random_weights
from small_engines import BEAM, V, engine, source

from sieve.engines.options import Blocked, SearchOptions
from sieve.errors import ConfigError, ModelError
from sieve.selection.plan import Selector
from sieve.selection.selectors import Adjusted, FullVocabulary, NeuralSelection
from sieve.selection.shortlist import Shortlist
from sieve.tokenize.vocabulary import EOS


@pytest.mark.parametrize("wrong", [-1, V, V + 1000, 2**31 - 1, 2**31, 2**32 + 4, -(2**40)])
def test_ids_out_of_range(wrong: int) -> None:
    one, sentences = engine(), source(10, 2)
    bad = [sentences[0], np.array([4, wrong, EOS])]
    expected = rf"got ids? .*{wrong}|expected (ids from )?0 to {V - 1}"
    calls: list[Any] = [
        lambda: one.encode(bad),
        lambda: one.translate(bad, FullVocabulary(), BEAM),
        lambda: one.score(bad, [[4], [4]], FullVocabulary()),
        lambda: one.score(sentences, [[4], [5, wrong]], FullVocabulary()),
        lambda: one.translate(sentences, FullVocabulary(), BEAM, [[4], [wrong]]),
        lambda: one.translate(sentences, adjusted(include=(wrong,)), BEAM),
        lambda: one.translate(sentences, adjusted(exclude=(wrong,)), BEAM),
        lambda: one.translate(sentences, FullVocabulary(), blocking((4, wrong))),
        lambda: one.translate(sentences, FullVocabulary(), blocking((4,), wrong)),
    ]
    if 0 <= wrong < 2**31:
        words = [Shortlist.of([wrong])] * 2
        calls.append(lambda: one.translate(sentences, Given(words), BEAM))
        calls.append(lambda: one.decode(one.encode(sentences), words, BEAM))
    for call in calls:
        with pytest.raises(ValueError, match=expected):
            call()
    one.translate(sentences, FullVocabulary(), BEAM)  # goes on as before


def adjusted(**changes: tuple[int, ...]) -> Selector:
    return Adjusted(NeuralSelection(0.4), **changes)


def blocking(tokens: tuple[int, ...], *open_ids: int) -> SearchOptions:
    return replace(BEAM, blocked=(Blocked(tokens, True),), open_ids=open_ids)


def test_numbers_that_do_not_fit() -> None:
    one, sentences = engine(), source(11, 2)
    encoded = one.encode(sentences)
    with pytest.raises(ValueError, match="1 shortlists, 2 prefixes, 2 sentences"):
        one.decode(encoded, [Shortlist.of([4])], BEAM)
    with pytest.raises(ValueError, match="2 shortlists, 3 prefixes, 2 sentences"):
        one.decode(encoded, [Shortlist.of([4])] * 2, BEAM, [[4]] * 3)
    with pytest.raises(ValueError, match="prefixes: offsets do not fit"):
        one.translate(sentences, FullVocabulary(), BEAM, [[4]])
    with pytest.raises(ValueError, match="prefixes: offsets do not fit"):
        one.score(sentences, [[4]], FullVocabulary())
    with pytest.raises(ValueError, match="named the tokens of 1 of 2 sentences"):
        one.translate(sentences, Given([Shortlist.of([4])]), BEAM)
    with pytest.raises(ValueError, match="expected whole numbers"):
        one.encode([np.array([4.5, 2.0])])
    with pytest.raises(ConfigError, match="threads: got -1, expected 1 or more"):
        engine(threads=-1)


def test_states_of_another_model() -> None:
    config = replace(SMALL, d_model=128)
    wide = native(config, random_weights(config))
    encoded = engine().encode(source(12, 2))
    with pytest.raises(ValueError, match="encoded by another model"):
        wide.decode(encoded, [Shortlist.of([4])] * 2, BEAM)
    with pytest.raises(ValueError, match="encoded by another model"):
        wide.bow_logits(encoded)


def test_a_model_without_a_head() -> None:
    config = replace(SMALL, nvs_head="none")
    one = native(config, random_weights(config))
    for call in (
        lambda: one.bow_logits(one.encode(source(0, 1))),
        lambda: one.translate(source(0, 1), NeuralSelection(0.5), BEAM),
        lambda: one.score(source(0, 1), [[4]], NeuralSelection(0.5)),
    ):
        with pytest.raises(ModelError, match="has no selection head"):
            call()


def test_arrays_that_are_not_in_one_piece() -> None:
    weights = random_weights(SMALL)
    turned = {name: np.asfortranarray(array) for name, array in weights.items()}
    with pytest.raises(Exception, match="is no array in one piece"):
        native(SMALL, turned)
    name = "encoder.norm.weight"
    raw = np.zeros(weights[name].nbytes + 1, np.uint8)
    odd = raw[1:].view(np.float32) if raw.ctypes.data % 4 == 0 else raw[:-1].view(np.float32)
    with pytest.raises(Exception, match=f"{name} is no array in one piece"):
        native(SMALL, {**weights, name: odd})


def test_pickling_is_refused() -> None:
    for one in (engine(), engine().encode(source(0, 1))):
        with pytest.raises(TypeError, match="cannot pickle"):
            pickle.dumps(one)
        with pytest.raises(TypeError, match="cannot pickle"):
            copy.deepcopy(one)


def test_weights_outlive_their_dictionary() -> None:
    """int8 tensors are used where they lie: the engine keeps them."""
    weights = random_weights(SMALL, seed=1)
    one = native(SMALL, weights, int8=True)
    del weights
    found = one.translate(source(13, 5), FullVocabulary(), BEAM)
    assert found == engine("ssru", True).translate(source(13, 5), FullVocabulary(), BEAM)
