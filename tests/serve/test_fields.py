"""Bodies into fields; anything else is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sieve.serve.refusal import Refused
from sieve.serve.web.fields import parse_fields, parse_json

FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=xx"


@pytest.mark.parametrize(
    ("body", "kind", "query", "fields"),
    [
        (b'{"q": "a", "n": 1, "x": null}', "application/json", b"q=no", {"q": "a", "n": 1}),
        (b'{"q": "a"}', "Application/JSON; charset=utf-8", b"", {"q": "a"}),
        (b'{"q": "a"}', "application/vnd.x+json", b"", {"q": "a"}),
        (b"q=a%20b+c&q=d&e=", FORM, b"", {"q": "a b c", "e": ""}),
        ("q=schön%C3%A4".encode(), "", b"source=en&q=first", {"q": "first", "source": "en"}),
        (b"", "", b"", {}),
        (
            b'--xx\r\nContent-Disposition: form-data; name="q"\r\n\r\nzw\xc3\xb6lf\r\nzeilen\r\n'
            b'--xx\r\nContent-Disposition: form-data; name="target"\r\n\r\nde\r\n--xx--\r\n',
            MULTIPART,
            b"",
            {"q": "zwölf\r\nzeilen", "target": "de"},
        ),
    ],
)
def test_fields(body: bytes, kind: str, query: bytes, fields: dict[str, object]) -> None:
    assert parse_fields(body, kind, query) == fields


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b'"q"', b"null", b"\xff\xfe{}", b'{"q": "\xff"}', b'{"q": "\\ud800"}',
        b'{"\\udc00": 1}', b'{"q": NaN}', b'{"q": 1' + b"0" * 5000 + b"}", b'{"q": 1} x',
        b'{"q":' + b"[" * 1000 + b"]" * 1000 + b"}", b"[" * 100_000, b'{"q": {"a": ["\\ud800"]}}',
    ],
)  # fmt: skip
def test_bad_json(body: bytes) -> None:
    with pytest.raises(Refused, match=r"^Invalid JSON format$") as caught:
        parse_json(body)
    assert caught.value.status == 400


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"q=%ff", FORM, 400),
        (b"q=\xff", FORM, 400),
        (b"&".join([b"a=b"] * 200), FORM, 400),
        (b"--xx\r\n\r\nno name\r\n--xx--\r\n", MULTIPART, 400),
        (b'--xx\r\nContent-Disposition: form-data; name="q"\r\n\r\n\xff\r\n--xx--', MULTIPART, 400),
        (b"q=a", "text/plain", 415),
        (b"<q/>", "application/xml", 415),
    ],
)
def test_bad_forms(body: bytes, kind: str, status: int) -> None:
    with pytest.raises(Refused) as caught:
        parse_fields(body, kind, b"")
    assert caught.value.status == status


kinds = st.sampled_from(["application/json", FORM, MULTIPART, "multipart/form-data", "", "x/y"])


@given(st.binary(max_size=80), kinds | st.text(st.characters(max_codepoint=255), max_size=30))
def test_any_bytes_give_fields_or_a_refusal(body: bytes, kind: str) -> None:
    try:
        assert isinstance(parse_fields(body, kind, body), dict)
    except Refused as refused:
        assert 400 <= refused.status < 500
