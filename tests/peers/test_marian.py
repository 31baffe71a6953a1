"""A real student in fp32: Marian itself, with the dequantised weights, and our engine agree."""

from collections.abc import Callable
from pathlib import Path

import pytest
from oracles.asking import Answer, Peer, answers
from oracles.comparing import Ours, Scores, identical
from oracles.environments import MARIAN, peers_folder
from oracles.notes import Note
from oracles.real_models import dequantized, firefox, lines_of

pytestmark = pytest.mark.peers


def test_scores_greedy_and_beam_are_marians(imported: Callable[[Path], Path], note: Note) -> None:
    student, lines = firefox("en-pt"), lines_of("newstest2019.en-de.en")
    ours = Ours(imported(student), precision="float32")
    source, target = ours.translator.tokenizers.source, ours.translator.tokenizers.target
    pieces = [target.piece(index) for index in range(target.vocab_size)]
    model = dequantized(student, pieces, peers_folder() / "models" / "marian-en-pt")
    texts = [" ".join(map(source.piece, ids)) for ids in source.encode(lines)]

    def theirs(beam: int) -> tuple[list[Answer], list[list[int]]]:
        peer = Peer(MARIAN, "marian_oracle", {"model": str(model), "beam": beam})
        written = answers(peer, texts)
        return written, [[pieces.index(piece) for piece in one["pieces"]] for one in written]

    greedy, ids = theirs(1)
    scores = Scores.of([one["scores"] for one in greedy], ours.score(lines, ids))
    same = identical(ids, ours.translate(lines))
    note(forced_difference=scores.difference, identical=same)
    assert scores.difference <= 1e-4
    assert same >= 0.999
    _, ids = theirs(4)
    # Marian searches on with fewer hypotheses once some have ended, and to the end
    same = identical(ids, ours.translate(lines, beam=4, stop="exact"))
    first = identical(ids, ours.translate(lines, beam=4, stop="first"))
    note(identical_beam_4=same, identical_beam_4_stop_first=first)
    assert same >= 0.99
