import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sieve.tokenize.normalize import normalize


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("  a  b\t\tc\r\n", "a b c"),
        ("e\u0301", "é"),
        ("a\u00ad\u0301", "á"),  # the soft hyphen goes before the accent is composed
        ("10\u00a0000\u202f€", "10 000 €"),
        ("a\u2028b\u2029c\u0085d", "a b c d"),
        ("\ufeffx\u200by\u2060z", "xyz"),
        ("\x00\x07\x7f\x9f", ""),
        ("▁a", "_a"),
        ("\ud800x", "\ufffdx"),
        # what a reader can tell apart stays
        ("m² ½ ﬁ ™ … “x” ｗｉｄｅ", "m² ½ ﬁ ™ … “x” ｗｉｄｅ"),
        ("👩‍👩‍👧 می‌خواهم \u200fאב", "👩‍👩‍👧 می‌خواهم \u200fאב"),
    ],
)
def test_normalize_by_hand(text: str, expected: str) -> None:
    assert normalize(text) == expected


@given(st.text(alphabet=st.characters(categories=None)))
@example("\u1100 \u1161\u00ad\u11a8")
def test_normalize_is_idempotent_and_clean(text: str) -> None:
    once = normalize(text)
    assert normalize(once) == once
    assert unicodedata.is_normalized("NFC", once)
    assert once == once.strip() and "  " not in once and "\n" not in once and "\0" not in once
    once.encode("utf-8")
