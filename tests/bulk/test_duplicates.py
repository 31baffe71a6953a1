"""The first place of each text, in parts of any size, is what a dictionary says."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sieve.bulk.duplicates import FirstPlaces, text_hash

cells = st.lists(st.sampled_from(["a", "b", "", "ä", "\ud800", None, "a "]), max_size=40)


@given(cells, st.integers(1, 9))
def test_first_places(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str | None], part: int
) -> None:
    folder = tmp_path_factory.mktemp("places")
    (folder / "hashes").write_bytes(b"".join(map(text_hash, texts)))
    places = FirstPlaces.find(folder / "hashes", folder / "places", part)
    first: dict[str, int] = {}
    expected = [
        -1 if text is None else first.setdefault(text, number) for number, text in enumerate(texts)
    ]
    assert places.of(0, len(texts)).tolist() == expected
    middle = len(texts) // 2
    assert places.of(middle, 3).tolist() == expected[middle : middle + 3]
    own = [number for number, place in enumerate(expected) if place == number]
    assert places.firsts(0, len(texts)) == own


def test_memory_does_not_grow_with_the_corpus(tmp_path: Path) -> None:
    """A part holds its share of the hashes, however few different texts there are."""
    import tracemalloc

    hashes = np.random.default_rng(0).integers(0, 2**63, (400_000, 2)).astype("<u8")
    hashes[200_000:] = hashes[:200_000]
    hashes.tofile(tmp_path / "hashes")
    peaks = []
    for part in (400_000, 25_000):
        tracemalloc.start()
        places = FirstPlaces.find(tmp_path / "hashes", tmp_path / f"{part}", part)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert places.of(200_000, 5).tolist() == [0, 1, 2, 3, 4]
    assert peaks[1] < 0.6 * peaks[0]
