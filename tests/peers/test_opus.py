"""A real OPUS-MT model: transformers in fp32, CTranslate2 in int8, and ours."""

from collections.abc import Callable
from pathlib import Path

import pytest
from oracles.asking import Peer, answers
from oracles.comparing import Ours, Scores, identical, quality
from oracles.environments import HUGGING_FACE
from oracles.real_models import lines_of, opus

from sieve.bundle.convert import convert

pytestmark = pytest.mark.peers
SOURCE, REFERENCE = "newstest2019.en-de.en", "ntrex128.en-fr.fr"


def test_scores_greedy_and_beam_are_those_of_transformers(
    imported: Callable[[Path], Path],
) -> None:
    model, lines = opus("en-fr"), lines_of(SOURCE)
    ours = Ours(imported(model), precision="float32")

    def peer(beam: int) -> Peer:
        return Peer(HUGGING_FACE, "transformers_oracle", {"model": str(model), "beam": beam})

    theirs = answers(peer(1), lines)
    assert [one["source"] for one in theirs] == [ids.tolist() for ids in ours.sources(lines)]
    ids = [one["ids"] for one in theirs]
    scores = Scores.of([one["scores"] for one in theirs], ours.score(lines, ids))
    assert scores.difference <= 1e-4
    written = ours.translate(lines)
    assert identical(ids, written) >= 0.999
    same = [n for n, one in enumerate(written) if list(one.tokens) == ids[n]]
    texts = ours.texts([written[n] for n in same])
    assert texts == [theirs[n]["text"] for n in same]
    # early_stopping="never" is our exact stop: to the end of what could still be better
    ids = [one["ids"] for one in answers(peer(4), lines)]
    assert identical(ids, ours.translate(lines, beam=4, stop="exact")) >= 0.99


def test_quality_tokens_and_scores_are_those_of_ctranslate2_in_int8(
    imported: Callable[[Path], Path], tmp_path: Path
) -> None:
    model, lines, references = opus("en-fr"), lines_of(SOURCE), lines_of(REFERENCE)
    settings = {"model": str(model), "kind": "int8", "beam": 1, "scores": True}
    theirs = answers(Peer(HUGGING_FACE, "ctranslate2_oracle", settings), lines)
    exact = Ours(imported(model), precision="float32")
    ours = Ours(convert(imported(model), "int8", tmp_path / "int8").directory)
    ids = [one["ids"] for one in theirs]
    bleu, _ = quality([one["text"] for one in theirs], references)
    written = ours.translate(lines)
    our_bleu, our_chrf = quality(ours.texts(written), references)
    exact_bleu, exact_chrf = quality(exact.texts(exact.translate(lines)), references)
    assert our_bleu > exact_bleu - 0.3
    assert our_chrf > exact_chrf - 0.3
    assert our_bleu == pytest.approx(bleu, abs=0.1)
    # what both write: whoever chose a token in a near tie scores it higher than another would
    both = [n for n, one in enumerate(written) if list(one.tokens) == ids[n]]
    assert len(both) > 0.5 * len(lines)
    scored = ours.score([lines[n] for n in both], [ids[n] for n in both])
    scores = Scores.of([theirs[n]["scores"] for n in both], scored)
    assert abs(scores.theirs - scores.ours) <= 0.002


NEAR_TIES = (
    "the same scheme and the same integers, so that float sums decide: with "
    "CT2_FORCE_CPU_ISA=GENERIC, CTranslate2 agrees with 98.33 % of its own tokens"
)


@pytest.mark.xfail(reason=NEAR_TIES, strict=True)  # 56.07, theirs 55.95; both exact: 56.06
def test_chrf_is_ctranslate2s_in_int8(imported: Callable[[Path], Path], tmp_path: Path) -> None:
    model, lines, references = opus("en-fr"), lines_of(SOURCE), lines_of(REFERENCE)
    settings = {"model": str(model), "kind": "int8", "beam": 1, "scores": True}
    theirs = answers(Peer(HUGGING_FACE, "ctranslate2_oracle", settings), lines)
    ours = Ours(convert(imported(model), "int8", tmp_path / "int8").directory)
    _, chrf = quality([one["text"] for one in theirs], references)
    _, our_chrf = quality(ours.texts(ours.translate(lines)), references)
    assert our_chrf == pytest.approx(chrf, abs=0.1)


@pytest.mark.xfail(reason=NEAR_TIES, strict=True)  # 98.41 % measured on 1,000 sentences
def test_forced_tokens_agree_with_ctranslate2_in_int8(
    imported: Callable[[Path], Path], tmp_path: Path
) -> None:
    model, lines = opus("en-fr"), lines_of(SOURCE)
    settings = {"model": str(model), "kind": "int8", "beam": 1, "scores": True}
    theirs = answers(Peer(HUGGING_FACE, "ctranslate2_oracle", settings), lines)
    ours = Ours(convert(imported(model), "int8", tmp_path / "int8").directory)
    assert ours.forced_agreement(lines, [one["ids"] for one in theirs]) >= 0.985
