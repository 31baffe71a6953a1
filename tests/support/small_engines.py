"""Small engines and sentences that the tests of the native engine share."""

from dataclasses import replace
from functools import cache

import pytest
from generated_models import SMALL, native, random_sentences, random_weights

from sieve.bundle.config import Mixer
from sieve.engines.native.native_engine import NativeEngine
from sieve.engines.options import Sampling, SearchOptions
from sieve.tokenize.vocabulary import IntArray

V = SMALL.tgt_vocab_size
GREEDY = SearchOptions(beam_size=1, max_length_factor=1.0)
BEAM = SearchOptions(beam_size=4, n_best=3, max_length_factor=1.0)
SAMPLES = replace(BEAM, sampling=Sampling(seed=5, top_k=20))
KINDS = [(mixer, int8) for mixer in ("ssru", "attention") for int8 in (False, True)]
with_kinds = pytest.mark.parametrize(
    ("mixer", "int8"), KINDS, ids=[f"{mixer}-{'int8' if int8 else 'fp32'}" for mixer, int8 in KINDS]
)


@cache
def engine(mixer: Mixer = "ssru", int8: bool = False, threads: int = 1) -> NativeEngine:
    config = replace(SMALL, decoder_mixer=mixer)
    return native(config, random_weights(config, seed=1), int8=int8, threads=threads)


def source(seed: int, number: int, longest: int = 12) -> list[IntArray]:
    return random_sentences(seed, number, V, longest)
