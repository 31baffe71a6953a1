"""HTML pages as a careful reader sees them."""

from html.parser import HTMLParser
from typing import Any

VOID = {"meta", "link", "br", "img", "input"}


class Balance(HTMLParser):
    """Fails where a tag is closed that is not open, or stays open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.add(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()


def checked(text: str) -> Balance:
    """The page parsed: balanced, and nothing in it is fetched from elsewhere."""
    found = Balance()
    found.feed(text)
    assert found.open == []
    assert all(address.startswith("#") for address in found.addresses)
    assert "@import" not in text and "url(" not in text
    return found
