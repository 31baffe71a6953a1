"""Our own API: texts with all that selection has to say about them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from sieve.config import unknown
from sieve.engines.options import SearchOptions
from sieve.errors import SieveError
from sieve.explain.explanation import ExplainOptions, Explanation, explain
from sieve.serve.access import Access
from sieve.serve.asked import direction, language, strings, whole
from sieve.serve.fields import is_json, parse_json
from sieve.serve.models import Model
from sieve.serve.service import Answer, Service
from sieve.serve.settings import MAX_BEAM, MAX_WORD, MAX_WORDS
from sieve.serve.web import Refused, Request, Response, as_json
from sieve.tokenize.spelling import spellings
from sieve.translate.translation import Request as Wanted
from sieve.translate.translator import LONGEST, Translator

FIELDS = (
    "texts", "source", "target", "selection", "threshold", "include", "exclude", "beam_size",
    "explain", "api_key",
)  # fmt: skip
LEXICON = "lexicon:200"
"""What `lexicon` alone stands for."""
MOST_VOTES = 8
"""Of a source word in an explanation."""


@dataclass(frozen=True)
class _Asked:
    """A request, checked as far as that goes without a model."""

    texts: list[str]
    source: str
    target: str
    selection: str | None
    threshold: float | None
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    beam_size: int
    explain: bool


class V1:
    """The route of the dialect."""

    def __init__(self, service: Service, access: Access) -> None:
        self._service = service
        self._access = access

    async def translate(self, request: Request) -> Response:
        """POST /v1/translate."""
        begin = time.perf_counter()
        service = self._service
        if not is_json(request.content_type):
            raise Refused(415, "expected a body of type application/json")
        limits = service.limits
        fields = parse_json(await request.body(limits.body_bytes, limits.sending_seconds))
        asked = _asked(fields)
        self._access.check(request.client, fields.get("api_key"), len(asked.texts))
        service.check_size(asked.texts)
        with service.accepted():
            way = await direction(
                service.models, service.detector, asked.source, asked.target, asked.texts
            )
            found: dict[str, Any] = {"source": way.source, "target": way.target}
            if way.detected:
                found["detected"] = asdict(way.detected)
            # also where there is nothing to do, what cannot be done is refused
            translator = (way.model or service.models.first).translator
            wanted = _wanted(translator, asked)
            if way.model is None:
                answers: list[Any] = [_described(Answer(text)) for text in asked.texts]
                found |= {"model": None, "selection": "none", "vocabulary_size": 0}
            else:
                answers = await self._answers(request, way.model, asked, wanted)
                found |= {
                    "model": way.model.name,
                    "selection": str(translator.selector(_selection(asked))),
                    "vocabulary_size": translator.engine.vocab_size,
                }
        found["translations"] = answers
        found["timing"] = {"total_ms": _milliseconds(time.perf_counter() - begin)}
        return as_json(found)

    async def _answers(
        self, request: Request, model: Model, asked: _Asked, wanted: Wanted
    ) -> list[dict[str, Any]]:
        answers = await self._service.texts(request, model, asked.texts, wanted)
        described = [_described(answer) for answer in answers]
        if asked.explain:
            explained = _explainer(model.translator, asked)
            explanations = await self._service.each(request, asked.texts, explained)
            for one, explanation in zip(described, explanations, strict=True):
                one["explanation"] = asdict(explanation) if explanation else None
        return described


def _asked(fields: dict[str, Any]) -> _Asked:
    for name in fields:
        if name not in FIELDS:
            raise Refused(400, f"Invalid request: {unknown('parameter', name[:40], list(FIELDS))}")
    threshold, selection = fields.get("threshold"), fields.get("selection")
    if selection is not None and not isinstance(selection, str):
        raise Refused(400, "Invalid request: selection parameter is not a string")
    if threshold is not None:
        number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
        if not number or not 0 <= threshold < 1:
            raise Refused(
                400, "Invalid request: threshold parameter is not a number from 0 to below 1"
            )
        if selection not in (None, "nvs"):
            raise Refused(
                400, "Invalid request: threshold parameter goes with selection nvs, not others"
            )
    beam = whole(fields.get("beam_size", SearchOptions().beam_size))
    if beam is None or isinstance(fields.get("beam_size"), str) or not 1 <= beam <= MAX_BEAM:
        raise Refused(
            400, f"Invalid request: beam_size parameter is not a whole number from 1 to {MAX_BEAM}"
        )
    if not isinstance(fields.get("explain", False), bool):
        raise Refused(400, "Invalid request: explain parameter is not true or false")
    return _Asked(
        strings(fields, "texts"),
        language(fields, "source"),
        language(fields, "target"),
        selection,
        None if threshold is None else float(threshold),
        _words(fields, "include"),
        _words(fields, "exclude"),
        beam,
        fields.get("explain", False),
    )


def _words(fields: dict[str, Any], name: str) -> tuple[str, ...]:
    if fields.get(name, []) == []:
        return ()
    words = strings(fields, name)
    if len(words) > MAX_WORDS:
        raise Refused(400, f"Invalid request: {name} parameter has more than {MAX_WORDS} words")
    if max(map(len, words)) > MAX_WORD:
        raise Refused(
            400, f"Invalid request: {name} parameter has a word of more than {MAX_WORD} characters"
        )
    return tuple(words)


def _selection(asked: _Asked) -> str | None:
    if asked.threshold is not None:
        return f"nvs:{asked.threshold}"
    return LEXICON if asked.selection == "lexicon" else asked.selection


def _wanted(translator: Translator, asked: _Asked) -> Wanted:
    """The request for the translator, checked by it."""
    target = translator.tokenizers.target
    selection = _selection(asked)
    try:
        translator.selector(selection)
    except SieveError as error:
        raise Refused(400, f"Invalid request: {error}") from None
    return Wanted(
        selection,
        SearchOptions(beam_size=asked.beam_size),
        asked.include,
        # a word that the vocabulary cannot spell is in no translation anyway
        tuple(word for word in asked.exclude if spellings(target, word)),
    )


def _explainer(translator: Translator, asked: _Asked) -> Callable[[str], Explanation | None]:
    resources = translator.resources
    names = ["none"]
    if resources.lexicon is not None:
        names.append(LEXICON)
    own = str(translator.selector(_selection(asked)))
    if resources.threshold is not None and not own.startswith("nvs"):
        names.append(f"nvs:{resources.threshold:g}")
    options = ExplainOptions(
        tuple(dict.fromkeys([*names, own])),
        top=MOST_VOTES,
        search=SearchOptions(beam_size=asked.beam_size),
    )

    def explained(text: str) -> Explanation | None:
        """None for what is no sentence: nothing at all, or too much to look at."""
        tokens = len(translator.tokenizers.source.encode([text])[0]) if text.strip() else 0
        return explain(translator, text, options) if 0 < tokens <= LONGEST else None

    return explained


def _described(answer: Answer) -> dict[str, Any]:
    return {
        "translation": answer.text,
        "set_size": answer.set_size,
        "score": answer.score,
        "tokens": [{"piece": piece, "score": score} for piece, score in answer.tokens],
        "timing": {
            "queue_ms": _milliseconds(answer.waited),
            "engine_ms": _milliseconds(answer.seconds),
        },
    }


def _milliseconds(seconds: float) -> float:
    return round(1000.0 * seconds, 3)
