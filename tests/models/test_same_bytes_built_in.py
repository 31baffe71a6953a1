"""The built-in models on 5,000 real lines each: the same bytes from every kind of kernels.

Greedy and with a beam of 5; tokens, scores, alignments, confidence. About half an hour of one core.
"""

from functools import cache
from pathlib import Path

import pytest

import sieve
from sieve.bundle.catalogue import built_in
from sieve.engines.native.native_engine import available_kernels
from sieve.engines.options import SearchOptions
from sieve.translate.translation import Request, Translation

DATA = Path(__file__).parents[3] / "shared" / "data" / "test"
SETS = ("newstest2018", "newstest2019", "tatoeba2021", "flores200_devtest")
LINES = 5000
BEST, *OTHERS = available_kernels()

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not DATA.is_dir(), reason="needs the shared test sets beside the checkout"),
    pytest.mark.skipif(not OTHERS, reason="this CPU has one kind of kernels"),
]


@cache
def lines(language: str) -> list[str]:
    files = [DATA / f"{name}.en-de.{language}" for name in SETS]
    found = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return [found[i * len(found) // LINES] for i in range(LINES)]


@pytest.mark.parametrize("beam", [1, 5])
@pytest.mark.parametrize("pair", ["en-de", "de-en"])
def test_same_bytes(pair: str, beam: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if pair not in built_in():
        pytest.skip(f"the built-in model {pair} is not here")
    request = Request(options=SearchOptions(beam_size=beam, alignment=True))

    def translated(kernels: str) -> list[Translation]:
        monkeypatch.setenv("SIEVE_KERNELS", kernels)
        return sieve.load(pair, engine="native").run(lines(pair[:2]), request)

    expected = translated(BEST)
    assert len(expected) == LINES
    for kernels in OTHERS:
        found = translated(kernels)
        assert [a for a, b in zip(found, expected, strict=True) if a != b] == [], kernels
