"""Joins the alignments of two directions into one set of links (Koehn et al. 2005).

Each direction links a token of its target side to at most one token of its source side. Links are
handled as numbers, source position times `_WIDTH` plus target position.
"""

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from sieve.data.alignments import Alignments
from sieve.data.corpus import Ragged

Positions = npt.NDArray[np.int16]
Links = set[int]

_WIDTH = 1 << 16
_NEIGHBORS = (-_WIDTH, -1, _WIDTH, 1, -_WIDTH - 1, -_WIDTH + 1, _WIDTH - 1, _WIDTH + 1)


def intersection(forward: Links, backward: Links) -> Links:
    """Links that both directions have: few and good."""
    return forward & backward


def union(forward: Links, backward: Links) -> Links:
    """Links that either direction has: many."""
    return forward | backward


def forward_only(forward: Links, backward: Links) -> Links:
    """Links from source to target alone: at most one for each target token."""
    return forward


def grow_diag_final_and(forward: Links, backward: Links) -> Links:
    """The intersection, its neighbours in the union, and links between tokens still unlinked."""
    links = forward & backward
    either = forward | backward
    if links == either:
        return links
    sources = {link // _WIDTH for link in links}
    targets = {link % _WIDTH for link in links}
    # A neighbour refused once (both its tokens are linked) stays refused, so each link is
    # looked at once, in the order of the intersection and then of joining.
    queue = sorted(links)
    for link in queue:
        for step in _NEIGHBORS:
            near = link + step
            if near in either and near not in links:
                source, target = divmod(near, _WIDTH)
                if source not in sources or target not in targets:
                    links.add(near)
                    sources.add(source)
                    targets.add(target)
                    queue.append(near)
    for direction in (forward, backward):
        for link in sorted(direction - links):
            source, target = divmod(link, _WIDTH)
            if source not in sources and target not in targets:
                links.add(link)
                sources.add(source)
                targets.add(target)
    return links


HEURISTICS: dict[str, Callable[[Links, Links], Links]] = {
    "grow-diag-final-and": grow_diag_final_and,
    "intersection": intersection,
    "union": union,
    "forward": forward_only,
}


def symmetrize(
    heuristic: str, src: Ragged, tgt: Ragged, forward: Positions, backward: Positions
) -> Alignments:
    """Links of many sentence pairs, sorted by target position, then source position.

    Args:
        heuristic: A name of HEURISTICS.
        src: Source sentences.
        tgt: Target sentences.
        forward: For each target token its source position or -1, flat as tgt.
        backward: For each source token its target position or -1, flat as src.
    """
    join = HEURISTICS[heuristic]
    # target token j from source i: i · width + j, and the other way round
    forward_links = forward.astype(np.int64) * _WIDTH + _places(tgt)
    backward_links = _places(src) * _WIDTH + backward
    ahead, back = forward_links.tolist(), backward_links.tolist()
    ahead_known, back_known = (forward >= 0).tolist(), (backward >= 0).tolist()
    src_offsets, tgt_offsets = src.offsets.tolist(), tgt.offsets.tolist()
    joined = []
    for pair in range(len(src)):
        t, s = slice(*tgt_offsets[pair : pair + 2]), slice(*src_offsets[pair : pair + 2])
        joined.append(join(_known(ahead[t], ahead_known[t]), _known(back[s], back_known[s])))
    counts = np.fromiter(map(len, joined), np.int64, len(joined))
    flat = np.fromiter((link for links in joined for link in links), np.int64, int(counts.sum()))
    src_pos, tgt_pos = np.divmod(flat, _WIDTH)
    order = np.lexsort((src_pos, tgt_pos, np.repeat(np.arange(len(joined)), counts)))
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Alignments(offsets, src_pos[order].astype(np.int16), tgt_pos[order].astype(np.int16))


def _places(sentences: Ragged) -> npt.NDArray[np.int64]:
    """The position of each token in its sentence."""
    starts = np.repeat(sentences.offsets[:-1], sentences.lengths)
    places: npt.NDArray[np.int64] = np.arange(len(sentences.ids)) - starts
    return places


def _known(links: list[int], known: Iterable[bool]) -> Links:
    return {link for link, is_known in zip(links, known, strict=True) if is_known}
