import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sieve.data.corpus_writer import ragged
from sieve.selection.aligners.symmetrize import HEURISTICS, symmetrize

Link = tuple[int, int]


def run(heuristic: str, T: int, U: int, forward: list[int], backward: list[int]) -> list[Link]:
    src, tgt = ragged([[5] * T]), ragged([[6] * U])
    links = symmetrize(
        heuristic, src, tgt, np.array(forward, np.int16), np.array(backward, np.int16)
    )
    return [(int(s), int(t)) for s, t in links.links(0)]


def plain_grow_diag_final_and(forward: set[Link], backward: set[Link]) -> set[Link]:
    """Koehn's pseudocode: repeated sweeps over everything until nothing is added."""
    links, either = forward & backward, forward | backward
    steps = [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)]

    def free(side: int, position: int) -> bool:
        return all(link[side] != position for link in links)

    order = sorted(links)
    for i, j in order:
        for di, dj in steps:
            near = (i + di, j + dj)
            if near in either - links and (free(0, near[0]) or free(1, near[1])):
                links.add(near)
                order.append(near)
    # the pseudocode sweeps again until nothing changes: nothing must change now
    for i, j in links:
        for di, dj in steps:
            near = (i + di, j + dj)
            assert near not in either - links or not (free(0, near[0]) or free(1, near[1]))
    for direction in (forward, backward):
        for i, j in sorted(direction):
            if free(0, i) and free(1, j):
                links.add((i, j))
    return links


def test_by_hand() -> None:
    # both say 0-0; forward says 1-1 and 1-2, backward says 1-2; 3-0 is backward's alone
    forward, backward = [0, 1, 1], [0, 2, -1, 0]
    assert run("intersection", 4, 3, forward, backward) == [(0, 0), (1, 2)]
    assert run("union", 4, 3, forward, backward) == [(0, 0), (3, 0), (1, 1), (1, 2)]
    assert run("forward", 4, 3, forward, backward) == [(0, 0), (1, 1), (1, 2)]
    # 1-1 neighbours 0-0 and its target is free; 3-0 is no neighbour and 0 is linked
    assert run("grow-diag-final-and", 4, 3, forward, backward) == [(0, 0), (1, 1), (1, 2)]


def test_final_and_links_what_is_left() -> None:
    # no neighbours: 2-3 joins because both its words are free, 0-3 then no more
    assert run("grow-diag-final-and", 3, 4, [0, -1, -1, 2], [0, -1, -1]) == [(0, 0), (2, 3)]


@given(st.data(), st.integers(1, 7), st.integers(1, 7))
def test_properties(data: st.DataObject, T: int, U: int) -> None:
    forward = data.draw(st.lists(st.integers(-1, T - 1), min_size=U, max_size=U))
    backward = data.draw(st.lists(st.integers(-1, U - 1), min_size=T, max_size=T))
    ahead = {(i, j) for j, i in enumerate(forward) if i >= 0}
    back = {(i, j) for i, j in enumerate(backward) if j >= 0}
    found = {name: run(name, T, U, forward, backward) for name in HEURISTICS}
    assert set(found["intersection"]) == ahead & back
    assert set(found["union"]) == ahead | back
    assert set(found["forward"]) == ahead
    assert set(found["grow-diag-final-and"]) == plain_grow_diag_final_and(ahead, back)
    for links in found.values():
        assert links == sorted(links, key=lambda link: (link[1], link[0]))


@pytest.mark.parametrize("heuristic", HEURISTICS)
def test_several_pairs_and_empty_sides(heuristic: str) -> None:
    src, tgt = ragged([[5], [], [5, 6]]), ragged([[7], [8], [7, 8]])
    forward, backward = np.array([0, -1, 1, 0], np.int16), np.array([0, 1, 0], np.int16)
    links = symmetrize(heuristic, src, tgt, forward, backward)
    assert links.offsets.tolist() == [0, 1, 1, 3]
    assert links.links(2).tolist() == [[1, 0], [0, 1]]
