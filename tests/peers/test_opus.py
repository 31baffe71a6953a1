"""A real OPUS-MT model: transformers in fp32, CTranslate2 in int8, and ours."""

from collections.abc import Callable
from pathlib import Path

import pytest
from oracles.asking import Answer, Peer, answers
from oracles.comparing import Ours, Scores, identical, quality
from oracles.environments import HUGGING_FACE
from oracles.notes import Note
from oracles.real_models import lines_of, opus

from sieve.bundle.convert import convert
from sieve.engines.engine import Hypothesis

pytestmark = pytest.mark.peers
SOURCE, REFERENCE = "newstest2019.en-de.en", "ntrex128.en-fr.fr"


class Small:
    """Both in int8, greedy: what CTranslate2 and we make of the sentences."""

    def __init__(self, model: Path, directory: Path) -> None:
        self.lines, self.references = lines_of(SOURCE), lines_of(REFERENCE)
        settings = {"model": str(model), "kind": "int8", "beam": 1, "scores": True}
        self.theirs = answers(Peer(HUGGING_FACE, "ctranslate2_oracle", settings), self.lines)
        self.ids = [answer["ids"] for answer in self.theirs]
        self.ours = Ours(directory)
        self.written: list[Hypothesis] = self.ours.translate(self.lines)

    def quality(self) -> list[tuple[float, float]]:
        """BLEU and chrF, theirs and ours."""
        texts = [answer["text"] for answer in self.theirs], self.ours.texts(self.written)
        return [quality(side, self.references) for side in texts]


@pytest.fixture(scope="module")
def small(imported: Callable[[Path], Path], tmp_path_factory: pytest.TempPathFactory) -> Small:
    model = opus("en-fr")
    output = tmp_path_factory.mktemp("small") / "int8"
    return Small(model, convert(imported(model), "int8", output).directory)


class Exact:
    """Both in float32: what transformers and we make of the sentences."""

    def __init__(self, model: Path, directory: Path) -> None:
        self.model, self.lines = model, lines_of(SOURCE)
        self.ours = Ours(directory, precision="float32")

    def theirs(self, beam: int) -> list[Answer]:
        """What transformers writes."""
        settings = {"model": str(self.model), "beam": beam}
        return answers(Peer(HUGGING_FACE, "transformers_oracle", settings), self.lines)


@pytest.fixture(scope="module")
def exact(imported: Callable[[Path], Path]) -> Exact:
    model = opus("en-fr")
    return Exact(model, imported(model))


def test_scores_and_greedy_search_are_those_of_transformers(exact: Exact, note: Note) -> None:
    theirs, ours, lines = exact.theirs(1), exact.ours, exact.lines
    assert [answer["source"] for answer in theirs] == [ids.tolist() for ids in ours.sources(lines)]
    ids = [answer["ids"] for answer in theirs]
    scores = Scores.of([answer["scores"] for answer in theirs], ours.score(lines, ids))
    written = ours.translate(lines)
    note(forced_difference=scores.difference, identical=identical(ids, written))
    assert scores.difference <= 1e-4
    assert identical(ids, written) >= 0.999
    same = [n for n, hypothesis in enumerate(written) if list(hypothesis.tokens) == ids[n]]
    texts = ours.texts([written[n] for n in same])
    assert texts == [theirs[n]["text"] for n in same]


def test_beam_search_is_that_of_transformers(exact: Exact, note: Note) -> None:
    ids = [answer["ids"] for answer in exact.theirs(4)]
    share = identical(ids, exact.ours.translate(exact.lines, beam=4, stop="exact"))
    note(identical=share)
    assert share >= 0.99


def test_bleu_and_scores_are_those_of_ctranslate2_in_int8(
    small: Small, exact: Exact, note: Note
) -> None:
    (bleu, chrf), (our_bleu, our_chrf) = small.quality()
    exact_texts = exact.ours.texts(exact.ours.translate(small.lines))
    exact_bleu, exact_chrf = quality(exact_texts, small.references)
    # what both write: whoever chose a token in a near tie scores it higher than another would
    rows = range(len(small.lines))
    both = [n for n in rows if list(small.written[n].tokens) == small.ids[n]]
    scored = small.ours.score([small.lines[n] for n in both], [small.ids[n] for n in both])
    scores = Scores.of([small.theirs[n]["scores"] for n in both], scored)
    note(
        bleu=bleu, bleu_ours=our_bleu, bleu_ours_float32=exact_bleu,
        chrf=chrf, chrf_ours=our_chrf, chrf_ours_float32=exact_chrf,
        identical=len(both) / len(rows), score=scores.theirs, score_ours=scores.ours,
    )  # fmt: skip
    assert our_bleu > exact_bleu - 0.3
    assert our_chrf > exact_chrf - 0.3
    assert our_bleu == pytest.approx(bleu, abs=0.1)
    assert len(both) > 0.5 * len(rows)
    assert abs(scores.theirs - scores.ours) <= 0.002


NEAR_TIES = (
    "the same scheme and the same integers, so that float sums decide: with "
    "CT2_FORCE_CPU_ISA=GENERIC, CTranslate2 agrees with 98.33 % of its own tokens"
)


@pytest.mark.xfail(
    reason=NEAR_TIES, raises=AssertionError, strict=True
)  # 56.07, theirs 55.95; both exact: 56.06
def test_chrf_is_ctranslate2s_in_int8(small: Small) -> None:
    (_, chrf), (_, our_chrf) = small.quality()
    assert our_chrf == pytest.approx(chrf, abs=0.1)


@pytest.mark.xfail(
    reason=NEAR_TIES, raises=AssertionError, strict=True
)  # 98.41 % measured on 1,000 sentences
def test_forced_tokens_agree_with_ctranslate2_in_int8(small: Small, note: Note) -> None:
    agreement = small.ours.forced_agreement(small.lines, small.ids)
    note(forced_agreement=agreement)
    assert agreement >= 0.985
