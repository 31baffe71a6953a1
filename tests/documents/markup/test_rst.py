"""reStructuredText through translators that copy: text changes, all else stays."""

import pytest
from echo import echo, swapped
from hypothesis import given
from hypothesis import strategies as st

from sieve.documents import read_document, translate_document
from sieve.documents.markup.rst_inline import AFTER, BEFORE, rst_block

KEPT = """.. _start:

=========
 A title
=========

:Author: John Smith
:date: 2020

A paragraph with **bold words**, ``code(x)`` and `a page <https://a.b>`_ that was wrapped
by hand. See :ref:`the start <start>`, :func:`os.path.join` [1]_ and |name|.\x20

- An item::

    code
- | A line
  | and another

1. Numbers

   (a) and letters

.. note:: A note that
   goes on.

.. code-block:: python
   :caption: A loop

   for x in y: pass

.. versionadded:: 3.2
   More.

.. function:: open(name)

   :param name: of the file
   :type name: str

term : kind
    Its meaning.

-v, --verbose  More messages
               of all kinds

=====  ====
Name   Size

a      b
=====  ====

>>> print("bda")
bda

.. [1] A note below
.. |name| replace:: bda
.. a comment
   of two lines
"""


def test_a_copy_is_the_same() -> None:
    assert translate_document(echo(), KEPT, "rst") == KEPT


def test_what_is_read() -> None:
    assert read_document(KEPT, "rst").sentences == [
        "A title",
        "A paragraph with bold words, code(x) and a page that was wrapped by hand.",
        "See the start, os.path.join and name.",
        "An item",
        "A line",
        "and another",
        "Numbers",
        "and letters",
        "A note that goes on.",
        "A loop",
        "More.",
        "of the file",
        "term",
        "Its meaning.",
        "More messages of all kinds",
        "A note below",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bda\n---\n", "BDA\n---\n"),
        ("bda\n===\n\nSee bda_.\n", ".. _`bda`:\n\nBDA\n===\n\nsEE bda_.\n"),
        ("bda `fga kla`_ x\n", "BDA `FGA KLA <fga kla_>`__ X\n"),
        ("bda `fga`__ x\n", "BDA `FGA`__ X\n"),
        ("bda:\n\n::\n\n   fga\n\nkla\n", "BDA:\n\n::\n\n   fga\n\nKLA\n"),
        ("bda ``:f:`g``` kla\n", "BDA ``:f:`g``` KLA\n"),
        ("+-----+\n| bda |\n+-----+\n", "+-----+\n| bda |\n+-----+\n"),
        (
            ".. toctree::\n   :caption: Bda\n\n   fga\n",
            ".. toctree::\n   :caption: bDA\n\n   fga\n",
        ),
    ],
)
def test_what_changes(text: str, expected: str) -> None:
    assert translate_document(echo(swapped), text, "rst") == expected


def test_a_rule_grows_with_its_title() -> None:
    longer = echo(lambda piece: piece + "xx")
    assert translate_document(longer, "===\nbda\n===\n", "rst") == "=====\nbdaxx\n=====\n"


def test_markup_is_apart_from_letters() -> None:
    written = f"bda{BEFORE}*fga*{AFTER}kla ({BEFORE}`x`{AFTER}) {BEFORE}``y``{AFTER}"
    assert rst_block("bda").start(written) == "bda\\ *fga*\\ kla (`x`) ``y``"


@given(st.text(alphabet="ab \n.:-=*`_|\\[]#+<>123", max_size=80))
def test_any_text_can_be_read(text: str) -> None:
    assert translate_document(echo(), text, "rst") == text
    translate_document(echo(swapped), text, "rst")
