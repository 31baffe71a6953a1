"""Real students in int8: Firefox's engine and ours round alike, and agree in all but near ties."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pytest
from oracles.asking import Answer, Peer, answers
from oracles.comparing import Ours, ids_of_texts, quality, sums_of_words
from oracles.environments import BERGAMOT
from oracles.real_models import firefox, lines_of

pytestmark = pytest.mark.peers
SETS = {
    "en-pt": ("newstest2019.en-de.en", "ntrex128.en-pt.pt"),
    "pt-en": ("ntrex128.en-pt.pt", "ntrex128.en-pt.en"),
}


@dataclass(frozen=True)
class Both:
    """What bergamot and our int8 make of a set."""

    ours: Ours
    lines: list[str]
    references: list[str]
    theirs: list[Answer]
    ids: list[list[int]]

    @classmethod
    def of(cls, pair: str, imported: Callable[[Path], Path]) -> "Both":
        student = firefox(pair)
        lines, references = map(lines_of, SETS[pair])
        settings = {"model": str(student), "shortlist": False, "scores": True}
        theirs = answers(Peer(BERGAMOT, "bergamot_oracle", settings), lines)
        ours = Ours(imported(student))
        target = ours.translator.tokenizers.target
        ids = [ids_of_texts(one["pieces"], target) for one in theirs]
        return cls(ours, lines, references, theirs, ids)

    def score_gap(self, rows: Sequence[int]) -> float:
        """Between the mean log-probabilities of a token, over their outputs of some lines."""
        scores = self.ours.score([self.lines[n] for n in rows], [self.ids[n] for n in rows])
        pairs = [
            sums_of_words(self.theirs[n]["words"], s) for n, s in zip(rows, scores, strict=True)
        ]
        sums = [sum(chain.from_iterable(side)) for side in zip(*pairs, strict=True)]
        tokens = sum(len(self.ids[n]) for n in rows)
        return float(abs(sums[0] - sums[1]) / tokens)


@pytest.mark.parametrize("pair", SETS)
def test_quality_and_sources(pair: str, imported: Callable[[Path], Path]) -> None:
    both = Both.of(pair, imported)
    written = both.ours.translate(both.lines)
    _, chrf = quality([one["text"] for one in both.theirs], both.references)
    our_bleu, our_chrf = quality(both.ours.texts(written), both.references)
    assert our_chrf == pytest.approx(chrf, abs=0.1)
    sources = both.ours.sources(both.lines)
    assert [len(one["source"]) for one in both.theirs] == [len(ids) for ids in sources]
    exact = Ours(imported(firefox(pair)), precision="float32")
    exact_bleu, _ = quality(exact.texts(exact.translate(both.lines)), both.references)
    assert our_bleu > exact_bleu - 0.3
    same = [n for n, one in enumerate(written) if list(one.tokens) == both.ids[n]]
    assert len(same) > 0.8 * len(both.lines)
    assert both.score_gap(same) <= 0.0005


@pytest.mark.parametrize("pair", SETS)
def test_bleu(pair: str, imported: Callable[[Path], Path]) -> None:
    both = Both.of(pair, imported)
    bleu, _ = quality([one["text"] for one in both.theirs], both.references)
    ours, _ = quality(both.ours.texts(both.ours.translate(both.lines)), both.references)
    assert ours == pytest.approx(bleu, abs=0.1)


@pytest.mark.parametrize("pair", SETS)
def test_forced_tokens_agree(pair: str, imported: Callable[[Path], Path]) -> None:
    both = Both.of(pair, imported)
    assert both.ours.forced_agreement(both.lines, both.ids) >= 0.985


@pytest.mark.parametrize("pair", SETS)
def test_forced_scores_of_all_their_tokens(pair: str, imported: Callable[[Path], Path]) -> None:
    both = Both.of(pair, imported)
    assert both.score_gap(range(len(both.lines))) <= 0.002


@pytest.mark.parametrize("pair", SETS)
def test_the_imported_shortlist_is_bergamots(pair: str, imported: Callable[[Path], Path]) -> None:
    """With the production shortlist as our lexicon, quality follows bergamot's with it."""
    student = firefox(pair)
    lines, references = map(lines_of, SETS[pair])
    settings = {"model": str(student), "shortlist": True, "scores": False}
    theirs = answers(Peer(BERGAMOT, "bergamot_oracle", settings), lines)
    translator = Ours(imported(student)).translator
    ours = translator.translate(lines, selection="lexicon:100", beam_size=1, repair=False)
    bleu, chrf = quality([one["text"] for one in theirs], references)
    our_bleu, our_chrf = quality([one.text for one in ours], references)
    assert our_bleu == pytest.approx(bleu, abs=0.3)
    assert our_chrf == pytest.approx(chrf, abs=0.3)
