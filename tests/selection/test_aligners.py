import numpy as np
import pytest

from sieve.data.corpus_writer import ragged
from sieve.errors import ConfigError, MissingExtraError
from sieve.selection.aligners import thot_aligners
from sieve.selection.aligners.named_aligners import ALIGNERS, make_aligner

WORDS = range(4, 10)  # the translation of w is w + 10


def pairs() -> tuple[list[list[int]], list[list[int]]]:
    rng = np.random.default_rng(3)
    src = [rng.choice(WORDS, rng.integers(2, 6), replace=False).tolist() for _ in range(150)]
    return src, [[word + 10 for word in sentence] for sentence in src]


@pytest.mark.parametrize("name", ALIGNERS)
def test_every_aligner_finds_the_translations(name: str) -> None:
    if name != "fast_align":
        pytest.importorskip("thot")
    src, tgt = pairs()
    aligner = make_aligner(name, 12, 20)
    done: list[int] = []
    aligner.train(ragged(src), ragged(tgt), np.ones(len(src), int), done.append)
    assert aligner.name == name
    assert sum(done) == aligner.passes * len(src)
    found = aligner.align(ragged([*src[:20], [], [4]]), ragged([*tgt[:20], [14], []]))
    expected = [place for s in src[:20] for place in range(len(s))]
    assert found[-1] == -1  # the source is empty
    assert np.mean(found[:-1] == expected) > 0.9
    table = aligner.table()
    for word in WORDS:
        part = slice(table.offsets[word], table.offsets[word + 1])
        best = table.targets[part][np.argmax(table.probabilities[part])]
        assert best == word + 10
    assert table.offsets[4] == 0  # ids that never occurred have no translations


def test_a_weight_gives_a_pair_more_than_once() -> None:
    pytest.importorskip("thot")
    src, tgt = ragged([[4, 5], [4, 5]]), ragged([[14, 15], [15, 15]])
    once, often = (make_aligner("hmm", 12, 20) for _ in range(2))
    once.train(src, tgt, np.array([1, 1]), lambda count: None)
    often.train(src, tgt, np.array([5, 1]), lambda count: None)
    assert often.table().probabilities.max() != once.table().probabilities.max()


def test_unknown_aligner() -> None:
    with pytest.raises(ConfigError, match=r"unknown aligner 'fast-align'; did you mean 'fast_alig"):
        make_aligner("fast-align", 12, 20)


def test_missing_library(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(module: str, extra: str, purpose: str) -> None:
        raise MissingExtraError(f"{purpose} needs {module}: pip install 'sieve-nmt[{extra}]'")

    monkeypatch.setattr(thot_aligners, "require", absent)
    with pytest.raises(MissingExtraError, match=r"aligner 'eflomal' needs thot.*\[align\]"):
        make_aligner("eflomal", 12, 20)
