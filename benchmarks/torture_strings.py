"""Strings of every kind through every option and document format: as many come out as go in."""

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sieve
from sieve.cli.lines import as_line
from sieve.documents import read_document, token_counter
from sieve.engines.options import Sampling, SearchOptions
from sieve.errors import SieveError
from sieve.translate.translation import Request
from sieve.translate.translator import Translator

WORDS = [
    "The",
    "house",
    "is",
    "green,",
    "and",
    "15.03.2024",
    "at",
    "7",
    "p.m.",
    "we",
    "met",
    "Viersen!",
    "<b>x</b>",
    "[a](b)",
    "{0}",
    "%s",
    "É",
]
KINDS = [
    lambda rng: " ".join(rng.choices(WORDS, k=rng.randrange(12))),
    lambda rng: "".join(chr(rng.randrange(sys.maxunicode + 1)) for _ in range(rng.randrange(30))),
    lambda rng: "".join(chr(rng.randrange(0x250)) for _ in range(rng.randrange(60))),
    lambda rng: rng.choice("ae\u0e01") + "\u0301\u0323" * rng.randrange(80),
    lambda rng: "".join(rng.choices("0123456789.,:-/ ", k=rng.randrange(60))),
    lambda rng: rng.choice(WORDS) * rng.randrange(40),
    lambda rng: "".join(rng.choices("<>/&;\"'=- abp`*_[]()#|\n", k=rng.randrange(60))),
    lambda rng: "".join(
        rng.choices("\t\r\n\v\f\x1c\x85\u2028\u200b\ufeff\x00 a", k=rng.randrange(30))
    ),
    lambda rng: "".join(rng.choices("\U0001f600\u200d\ufe0f\U0001f1e9\ud800\udfff\u202e", k=9)),
]
SELECTIONS = ["none", "nvs", "nvs:0.5", "nvs:0.99:20", "safe", "frequent:50", "nvs:size=900+safe"]


def cases(first: int, scratch: Path) -> Iterator[str]:
    """See `torture.Cases`."""
    translator = sieve.load("en-de", threads=1)
    number = first
    while True:
        rng = random.Random(number)
        try:
            yield _document(translator, rng) if number % 5 == 0 else _lines(translator, rng)
        except SieveError as error:
            text = str(error)
            yield "refused" if text.isprintable() else f"FAIL message: {text!r}"
        except Exception as error:
            yield f"FAIL {type(error).__name__}: {error!r}"
        number += 1


def _lines(translator: Translator, rng: random.Random) -> str:
    lines = [rng.choice(KINDS)(rng) for _ in range(rng.randrange(4))]
    words = [rng.choice(KINDS)(rng)[:20] for _ in range(rng.choice([0, 0, 0, 1]))]
    n_best = rng.choice([1, 1, 1, 3])
    options = SearchOptions(
        beam_size=max(n_best, rng.choice([1, 1, 2, 5])),
        n_best=n_best,
        sampling=Sampling(seed=rng.randrange(99)) if n_best == 1 and rng.random() < 0.1 else None,
    )
    settings: dict[str, Any] = {"selection": rng.choice(SELECTIONS), "options": options}
    settings[rng.choice(["include", "exclude"])] = words
    if rng.random() < 0.1:
        settings["prefix"] = rng.choice(KINDS)(rng)[:20]
    translations = translator.translate(lines, **settings)
    if len(translations) != len(lines):
        return f"FAIL lines: {lines!r}"
    if any(as_line(each.text).count(b"\n") != 1 for each in translations):
        return f"FAIL line ends: {lines!r}"
    again = (
        translator.translate(lines[::-1], **settings)[::-1] if rng.random() < 0.1 else translations
    )
    if options.sampling is None and [a.text for a in again] != [t.text for t in translations]:
        return f"FAIL order: {lines!r}"
    return "lines"


def _document(translator: Translator, rng: random.Random) -> str:
    text = "\n".join(rng.choice(KINDS)(rng) for _ in range(rng.randrange(5)))
    form = rng.choice(["html", "markdown", "text"])
    document = read_document(text, form, token_counter(translator))
    results = {}
    for rows, request in document.calls(Request(options=SearchOptions(beam_size=1))):
        given = translator.run([document.sentences[row] for row in rows], request)
        results |= dict(zip(rows, given, strict=True))
    written = document.written(translator, [results[row] for row in range(len(document.sentences))])
    return form if isinstance(written, str) else f"FAIL document: {text!r}"
