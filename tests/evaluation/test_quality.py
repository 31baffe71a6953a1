import pytest

from sieve.errors import InputError
from sieve.evaluation.quality import bleu, chrf


def test_bleu_of_a_known_pair() -> None:
    # precisions 4/5, 3/4, 2/3, 1/2 and no brevity penalty: (1/5) ** (1/4)
    score = bleu(["a b c d x"], ["a b c d e"])
    assert score.value == pytest.approx(100 * 0.2**0.25)
    assert score.signature.startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")
    assert str(score).startswith("BLEU 66.9 (nrefs:1|")


def test_bleu_tokenizes_chinese() -> None:
    assert "tok:zh" in bleu(["我 是"], ["我是"], target_language="zh").signature


def test_chrf() -> None:
    score = chrf(["abcdef"], ["abcdef"])
    assert score.value == pytest.approx(100)
    assert score.signature.startswith("nrefs:1|case:mixed|eff:yes|nc:6|nw:0|")


def test_errors() -> None:
    with pytest.raises(InputError, match="got 1 translations and 2 references"):
        bleu(["a"], ["a", "b"])
    with pytest.raises(InputError, match="got no sentences"):
        chrf([], [])
