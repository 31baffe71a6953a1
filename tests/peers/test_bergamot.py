"""Real students in int8: Firefox's engine, whose rounding is its own, and ours agree in quality."""

from collections.abc import Callable
from itertools import chain
from pathlib import Path

import pytest
from oracles.asking import Peer, answers
from oracles.comparing import Ours, ids_of_texts, quality, sums_of_words
from oracles.environments import BERGAMOT
from oracles.real_models import firefox, lines_of

pytestmark = pytest.mark.peers
SETS = {
    "en-pt": ("newstest2019.en-de.en", "ntrex128.en-pt.pt"),
    "pt-en": ("ntrex128.en-pt.pt", "ntrex128.en-pt.en"),
}


@pytest.mark.parametrize("pair", SETS)
def test_quality_tokens_and_scores(pair: str, imported: Callable[[Path], Path]) -> None:
    student = firefox(pair)
    lines, references = map(lines_of, SETS[pair])
    settings = {"model": str(student), "shortlist": False, "scores": True}
    theirs = answers(Peer(BERGAMOT, "bergamot_oracle", settings), lines)
    directory = imported(student)
    ours, exact = Ours(directory), Ours(directory, precision="float32")
    written = ours.translate(lines)
    bleu, chrf = quality([one["text"] for one in theirs], references)
    our_bleu, our_chrf = quality(ours.texts(written), references)
    exact_bleu, exact_chrf = quality(exact.texts(exact.translate(lines)), references)
    assert exact_bleu == pytest.approx(bleu, abs=0.1)
    assert exact_chrf == pytest.approx(chrf, abs=0.1)
    assert our_bleu > exact_bleu - 0.3
    assert our_chrf > exact_chrf - 0.3
    assert [len(one["source"]) for one in theirs] == [len(ids) for ids in ours.sources(lines)]
    ids = [ids_of_texts(one["pieces"], ours.translator.tokenizers.target) for one in theirs]
    assert ours.forced_agreement(lines, ids) >= 0.985
    # Where a token was a near tie, rounding chose it, so whoever chose scores it higher than
    # another would. Only what both write themselves is scored without that favour.
    both = [n for n, one in enumerate(written) if list(one.tokens) == ids[n]]
    assert len(both) > 0.6 * len(lines)
    scores = ours.score([lines[n] for n in both], [ids[n] for n in both])
    pairs = [sums_of_words(theirs[n]["words"], s) for n, s in zip(both, scores, strict=True)]
    tokens = sum(len(ids[n]) for n in both)
    sums = [sum(chain.from_iterable(side)) for side in zip(*pairs, strict=True)]
    assert abs(sums[0] - sums[1]) / tokens <= 0.002


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
