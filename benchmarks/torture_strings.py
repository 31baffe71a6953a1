"""Strings of every kind through every option and document format: as many come out as go in."""

import json
import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import sieve
from sieve.documents import translate_bytes
from sieve.engines.options import Sampling, SearchOptions
from sieve.errors import SieveError
from sieve.repair.glossary import Glossary
from sieve.selection.fusion import Fusion
from sieve.selection.lexicon import Lexicon
from sieve.translate.raw_lines import as_line
from sieve.translate.translation import Request
from sieve.translate.translator import Translator
from torture_documents import GOOD, WORD, packed

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
KEPT = {
    "text": b"\n", "srt": b" --> ", "vtt": b" --> ", "po": b"msgstr", "csv": b"\n", "tsv": b"\n",
    "properties": b"=",
}  # fmt: skip
"""What a format has as often before as after it is translated."""
SELECTIONS = [
    None, "none", "nvs", "nvs:0.5", "nvs:0.99:20", "nvs:recall=0.9", "nvs:size=900+safe", "safe",
    "lexicon:50", "frequent:50", "among:50", "fused", "safe+none", "nvs:", "x",
]  # fmt: skip


def cases(first: int, scratch: Path) -> Iterator[str]:
    """See `torture.Cases`."""
    translator = _translator()
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


def _translator() -> Translator:
    """A built-in model that has a lexicon, too: every selection is possible."""
    translator = sieve.load("en-de", threads=1)
    words = translator.tokenizers.source.vocab_size
    lexicon = Lexicon(
        np.arange(words + 1, dtype=np.int64),
        np.arange(words, dtype=np.int32) % (translator.tokenizers.target.vocab_size - 4) + 4,
        *(np.ones(words, kind) for kind in (np.int32, np.int64, np.int64)),
    )
    resources = replace(
        translator.resources, lexicon=lambda: lexicon, fusion=Fusion((1, 5), (2.0, 0.5))
    )
    return replace(translator, resources=resources)


def _lines(translator: Translator, rng: random.Random) -> str:
    lines = [_text(rng) for _ in range(rng.randrange(4))]
    request = _request(rng, len(lines))
    translations = translator.run(lines, request)
    if len(translations) != len(lines):
        return f"FAIL lines: {lines!r}"
    for each in translations:
        if as_line(each.text).count(b"\n") != 1:
            return f"FAIL line ends: {lines!r}"
        json.loads(each.to_json())
    if rng.random() < 0.1:
        turned = replace(request, prefixes=request.prefixes[::-1])
        again = translator.run(lines[::-1], turned)[::-1]
        if [each.text for each in again] != [each.text for each in translations]:
            return f"FAIL order: {lines!r}"
    return "lines"


def _text(rng: random.Random) -> str:
    return rng.choice(KINDS)(rng)


def _request(rng: random.Random, lines: int) -> Request:
    """Every option there is, each unusual only now and then: most requests must be possible."""

    def rarely(*values: Any) -> Any:
        return rng.choice(values) if rng.random() < 0.1 else values[0]

    words = [(), *((_text(rng)[:20],) for _ in range(2))]
    entries = rarely((), (("house", "Bau"),), ((_text(rng)[:20], _text(rng)[:20]),))
    sampling = rarely(
        None, Sampling(rng.randrange(99), rng.choice([0.01, 1.0, 50.0]), rng.choice([0, 1, 9]))
    )
    n_best = rarely(1, 3)
    options = SearchOptions(
        beam_size=max(n_best, rng.choice([1, 1, 2, 5])),
        n_best=n_best,
        length_penalty=rarely(1.0, 0.0, 7.5),
        max_length_factor=rng.choice([0.1, 0.5, 1.0, 1.0, 3.0]),
        stop=rarely("first", "exact"),
        sampling=sampling,
        lossless=rarely(False, True),
        alignment=rarely(False, True),
    )
    return Request(
        selection=rng.choice(SELECTIONS),
        options=options,
        include=rarely(*words),
        exclude=rarely(*words),
        prefixes=rarely((), tuple(_text(rng)[:20] for _ in range(lines))),
        glossary=Glossary(entries) if entries else None,
        force_glossary=bool(entries) and rng.random() < 0.5,
        repair=rarely(True, False),
    )


def _document(translator: Translator, rng: random.Random) -> str:
    form = rng.choice(list(GOOD))
    text = "\n".join(_text(rng) for _ in range(rng.randrange(4)))
    part = GOOD[form].replace(WORD.encode(), text.encode("utf-8", "surrogatepass"))
    data = packed(form, part)
    written = translate_bytes(translator, data, format=form, beam_size=1)
    mark = KEPT.get(form)
    if mark and written.count(mark) != data.count(mark):
        return f"FAIL {mark!r} in {form}: {text!r}"
    return form
