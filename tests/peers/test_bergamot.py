"""Real students in int8: Firefox's engine and ours round alike, and agree in all but near ties."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pytest
from oracles.asking import Answer, Peer, answers
from oracles.comparing import Ours, ids_of_texts, quality, sums_of_words
from oracles.environments import BERGAMOT
from oracles.notes import Note
from oracles.real_models import firefox, lines_of

from sieve.engines.engine import Hypothesis

pytestmark = pytest.mark.peers
SETS = {
    "en-pt": ("newstest2019.en-de.en", "ntrex128.en-pt.pt"),
    "pt-en": ("ntrex128.en-pt.pt", "ntrex128.en-pt.en"),
}


@dataclass(frozen=True)
class Both:
    """What bergamot and our int8 make of a set."""

    pair: str
    ours: Ours
    lines: list[str]
    references: list[str]
    theirs: list[Answer]
    ids: list[list[int]]
    written: list[Hypothesis]

    @classmethod
    def of(cls, pair: str, imported: Callable[[Path], Path]) -> "Both":
        student = firefox(pair)
        lines, references = map(lines_of, SETS[pair])
        settings = {"model": str(student), "shortlist": False, "scores": True}
        theirs = answers(Peer(BERGAMOT, "bergamot_oracle", settings), lines)
        ours = Ours(imported(student))
        target = ours.translator.tokenizers.target
        ids = [ids_of_texts(answer["pieces"], target) for answer in theirs]
        return cls(pair, ours, lines, references, theirs, ids, ours.translate(lines))

    def quality(self) -> list[tuple[float, float]]:
        """BLEU and chrF, theirs and ours."""
        texts = [answer["text"] for answer in self.theirs], self.ours.texts(self.written)
        return [quality(side, self.references) for side in texts]

    def score_gap(self, rows: Sequence[int]) -> float:
        """Between the mean log-probabilities of a token, over their outputs of some lines."""
        scores = self.ours.score([self.lines[n] for n in rows], [self.ids[n] for n in rows])
        pairs = [
            sums_of_words(self.theirs[n]["words"], s) for n, s in zip(rows, scores, strict=True)
        ]
        sums = [sum(chain.from_iterable(side)) for side in zip(*pairs, strict=True)]
        tokens = sum(len(self.ids[n]) for n in rows)
        return float(abs(sums[0] - sums[1]) / tokens)


@pytest.fixture(scope="module", params=SETS)
def both(request: pytest.FixtureRequest, imported: Callable[[Path], Path]) -> Both:
    return Both.of(request.param, imported)


def test_quality_and_sources(both: Both, imported: Callable[[Path], Path], note: Note) -> None:
    (bleu, chrf), (our_bleu, our_chrf) = both.quality()
    exact = Ours(imported(firefox(both.pair)), precision="float32")
    exact_texts = exact.texts(exact.translate(both.lines))
    exact_bleu, exact_chrf = quality(exact_texts, both.references)
    rows = range(len(both.lines))
    same = [n for n in rows if list(both.written[n].tokens) == both.ids[n]]
    gap = both.score_gap(same)
    note(
        bleu=bleu, bleu_ours=our_bleu, bleu_ours_float32=exact_bleu,
        chrf=chrf, chrf_ours=our_chrf, chrf_ours_float32=exact_chrf,
        identical=len(same) / len(rows), score_gap_of_identical=gap,
    )  # fmt: skip
    assert our_chrf == pytest.approx(chrf, abs=0.1)
    sources = both.ours.sources(both.lines)
    assert [len(answer["source"]) for answer in both.theirs] == [len(ids) for ids in sources]
    assert our_bleu > exact_bleu - 0.3
    assert len(same) > 0.8 * len(both.lines)
    assert gap <= 0.0005


def test_bleu(both: Both) -> None:
    (bleu, _), (our_bleu, _) = both.quality()
    assert our_bleu == pytest.approx(bleu, abs=0.1)


def test_forced_tokens_agree(both: Both, note: Note) -> None:
    agreement = both.ours.forced_agreement(both.lines, both.ids)
    note(forced_agreement=agreement)
    assert agreement >= 0.985


def test_forced_scores_of_all_their_tokens(both: Both, note: Note) -> None:
    gap = both.score_gap(range(len(both.lines)))
    note(score_gap=gap)
    assert gap <= 0.002


@pytest.mark.parametrize("pair", SETS)
def test_the_imported_shortlist_is_bergamots(
    pair: str, imported: Callable[[Path], Path], note: Note
) -> None:
    """With the production shortlist as our lexicon, quality follows bergamot's with it."""
    student = firefox(pair)
    lines, references = map(lines_of, SETS[pair])
    settings = {"model": str(student), "shortlist": True, "scores": False}
    theirs = answers(Peer(BERGAMOT, "bergamot_oracle", settings), lines)
    translator = Ours(imported(student)).translator
    ours = translator.translate(lines, selection="lexicon:100", beam_size=1, repair=False)
    bleu, chrf = quality([one["text"] for one in theirs], references)
    our_bleu, our_chrf = quality([one.text for one in ours], references)
    note(bleu=bleu, bleu_ours=our_bleu, chrf=chrf, chrf_ours=our_chrf)
    assert our_bleu == pytest.approx(bleu, abs=0.3)
    assert our_chrf == pytest.approx(chrf, abs=0.3)
