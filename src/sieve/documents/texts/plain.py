"""Plain text: every line is translated for itself and stays a line; spaces around it stay."""

import re
from collections.abc import Iterator

from sieve.documents.blocks import Block, Part, Syntax

_LINE_END = re.compile(r"(\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])")

PLAIN = Syntax(read=str, write=lambda text, _: " ".join(text.splitlines()))


def text_parts(text: str) -> Iterator[Part]:
    """Lines as blocks, line ends as they are."""
    for number, part in enumerate(_LINE_END.split(text)):
        if number % 2 or not part.strip():
            yield part
        else:
            yield Block((part,), PLAIN)
