"""Text as a model translates it: how much of it, and which source token each token came from."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from directories import write_model

from sieve.bundle.directory import open_bundle
from sieve.engines.native.native_engine import NativeEngine
from sieve.selection.selectors import FullVocabulary
from sieve.train.attach.labelling import Labelling
from sieve.train.attach.labels import GREEDY
from sieve.train.attach.written_lexicon import lexicon_of

LINES = ["ba de", "de fi go", "ba ba ba", "go", "fi de ba", "ko", "de de"]


@pytest.fixture
def labelling(tmp_path: Path, toy_data: Any, monkeypatch: pytest.MonkeyPatch) -> Labelling:
    monkeypatch.setattr("sieve.train.attach.labels.PIECE_LINES", 2)
    monkeypatch.setattr("sieve.train.attach.labelling.PIECE_LINES", 2)
    write_model(tmp_path / "model", toy_data.corpus, nvs_head="none")
    bundle = open_bundle(tmp_path / "model")
    return Labelling(tmp_path, NativeEngine.open(bundle, threads=1), bundle.tokenizers())


def test_as_much_as_there_is_time_for_and_all_that_is_there(labelling: Labelling) -> None:
    asked: list[int] = []

    def enough(lines: int) -> bool:
        asked.append(lines)
        return lines >= 4

    assert [len(piece) for piece in labelling.text(LINES, None, enough)] == [2, 2]
    assert asked == [2, 4]
    assert len(labelling.text(LINES, None, lambda lines: True)) == 2
    assert sum(map(len, labelling.text(LINES, None, lambda lines: False))) == len(LINES)


def test_links_are_the_models_own_alignment(labelling: Labelling) -> None:
    piece = labelling.piece("piece", LINES, [line.upper() for line in LINES])
    lengths = []
    begin = 0
    for row, ids in enumerate(labelling.ids(LINES)):
        src_ids, tgt_ids = piece.links[begin : begin + _written(labelling, ids)].T
        begin += len(tgt_ids)
        assert set(src_ids.tolist()) <= set(ids.tolist())
        assert tgt_ids.tolist() == piece.targets(row)[: len(tgt_ids)].tolist()
        lengths.append(len(tgt_ids))
    assert begin == len(piece.links)  # nothing of the references
    lexicon = lexicon_of([piece, piece], labelling.tokenizers)
    assert lexicon.counts.sum() == lexicon.target_counts.sum() == 2 * sum(lengths)
    source, target = piece.links[0].tolist()
    links = (piece.links == (source, target)).all(axis=1).sum()
    targets, shares = lexicon.row(source)
    share = links / (piece.links[:, 0] == source).sum()
    assert float(shares[targets.tolist().index(target)]) == pytest.approx(share)


def _written(labelling: Labelling, ids: Any) -> int:
    """How many tokens the model writes for a sentence."""
    ((best,),) = labelling.engine.translate([np.asarray(ids)], FullVocabulary(), GREEDY)
    return len(best.tokens)
