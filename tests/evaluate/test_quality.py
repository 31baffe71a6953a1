import pytest

from sieve.errors import InputError
from sieve.evaluate.measure.quality import bleu, chrf, compared


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


def test_compared_with_the_first_system() -> None:
    references = [f"this is sentence number {i} of a small set" for i in range(30)]
    worse = [line.replace("small", "large") for line in references]
    found = compared({"none": references, "same": references, "worse": worse}, references)
    for name, scores in found.items():
        assert [score.name for score in scores] == ["BLEU", "chrF"]
        texts = worse if name == "worse" else references
        assert scores[0].value == pytest.approx(bleu(texts, references).value)
        assert scores[1].value == pytest.approx(chrf(texts, references).value)
        assert "bs:1000" in scores[0].signature
    assert [score.p_value for score in found["none"]] == [None, None]
    assert [score.p_value for score in found["same"]] == [1.0, 1.0]
    assert all((score.p_value or 1) < 0.05 for score in found["worse"])
    assert found["none"][0].interval == pytest.approx(0.0)
    with pytest.raises(InputError, match="got 1 translations and 30 references"):
        compared({"none": ["a"]}, references)
