"""Our own API: texts with all that selection has to say about them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Annotated, Any

from pydantic import ConfigDict, Field, StrictBool, StrictFloat, model_validator
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from typing_extensions import NotRequired, TypedDict

from sieve.engines.options import SearchOptions
from sieve.errors import SieveError
from sieve.explain.explanation import ExplainOptions, Explanation, explain
from sieve.serve.access import Access, cost_of
from sieve.serve.detect import Detected
from sieve.serve.direction import AUTO, Direction, direction
from sieve.serve.refusal import Refused
from sieve.serve.service import Answer, Service
from sieve.serve.settings import MAX_BEAM, MAX_WORD, MAX_WORDS
from sieve.serve.web.body import RequestClient, read_body
from sieve.serve.web.fields import (
    Expected,
    Fields,
    JsonNumber,
    Text,
    Texts,
    checked,
    is_json,
    parse_json,
)  # fmt: skip
from sieve.serve.web.operation import JSON, Operation, Schema, Taken
from sieve.tokenize.spelling import spellings
from sieve.translate.parts import MAX_TOKENS
from sieve.translate.translation import Request as Wanted
from sieve.translate.translator import Translator

LEXICON = "lexicon:200"
"""What `lexicon` alone stands for."""
MOST_VOTES = 8
"""Of a source word in an explanation."""
EXPLAINED = 4
"""Times as much work: an explained text is also searched with other selections."""

Words = Annotated[
    list[Annotated[str, Field(max_length=MAX_WORD)]],
    Expected(
        "is not a list of strings",
        {
            "too_long": f"has more than {MAX_WORDS} words",
            "string_too_long": f"has a word of more than {MAX_WORD} characters",
        },
    ),
]


class V1Fields(Fields):
    """The fields of /v1/translate."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    texts: Texts = Field(min_length=1)
    source: Text = Field(min_length=1)
    target: Text = Field(min_length=1)
    selection: Text = Field(
        "", description="Also lexicon:K, frequent:N, nvs:λ, joined by +, on models that can"
    )
    threshold: Annotated[StrictFloat | None, Expected("is not a number from 0 to below 1")] = Field(
        None, ge=0, lt=1, description="λ of nvs"
    )
    include: Words = Field(
        [], max_length=MAX_WORDS, description="Words that may be used whatever is selected"
    )
    exclude: Words = Field([], max_length=MAX_WORDS, description="Words that may not be used")
    beam_size: Annotated[JsonNumber, Expected(f"is not a whole number from 1 to {MAX_BEAM}")] = (
        Field(SearchOptions().beam_size, ge=1, le=MAX_BEAM)
    )
    explain: Annotated[StrictBool, Expected("is not true or false")] = False
    api_key: Text = ""

    @model_validator(mode="after")
    def _agree(self) -> V1Fields:
        if self.threshold is not None and self.selection not in ("", "nvs"):
            raise ValueError("threshold parameter requires selection nvs")
        return self

    @property
    def wanted_selection(self) -> str | None:
        """As the translator spells it; None for the model's own."""
        if self.threshold is not None:
            return f"nvs:{self.threshold}"
        return LEXICON if self.selection == "lexicon" else self.selection or None


class ScoredPiece(TypedDict):
    """A piece of a translation, or the end of a sentence."""

    piece: str
    score: float


class EngineTiming(TypedDict):
    """Until a thread was free, and of the engine's calls."""

    queue_ms: float
    engine_ms: float


class V1Translation(TypedDict):
    """The answer to one text."""

    translation: str
    set_size: Annotated[int, Field(description="Shortlist size; 0 for no text")]
    score: Annotated[float, Field(description="Log-probability over the shortlist")]
    tokens: list[ScoredPiece]
    timing: EngineTiming
    warnings: NotRequired[
        Annotated[list[str], Field(description="What may be wrong with it; absent for nothing")]
    ]
    explanation: NotRequired[
        Annotated[
            Explanation | None,
            Field(description="With explain; null for an empty text and for a long one"),
        ]
    ]


class RequestTiming(TypedDict):
    """Of the whole request."""

    total_ms: float


class V1Answer(TypedDict):
    """The answer to a request."""

    source: str
    target: str
    detected: NotRequired[Detected]
    model: str | None
    selection: str
    vocabulary_size: int
    translations: list[V1Translation]
    timing: RequestTiming


def operations(service: Service, access: Access) -> Sequence[Operation]:
    """The route of the dialect."""
    models, limits = service.models, service.limits
    narrowed: dict[str, Schema] = {
        "texts": {"maxItems": limits.texts},
        "source": {"enum": [AUTO, *models.languages]},
        "target": {"enum": models.languages},
    }
    without = {**narrowed, "selection": {"enum": models.selections}, "threshold": {"type": "null"}}
    kinds = [Taken(V1Fields, without)]
    if "nvs" in models.selections:
        kinds.append(Taken(V1Fields, {**narrowed, "selection": {"enum": ["nvs"]}}))
    return [
        Operation(
            "POST", "/v1/translate", "Translate texts, and say what selection did",
            V1(service, access).translate, V1Answer, {JSON: tuple(kinds)},
        )
    ]  # fmt: skip


class V1:
    """Answers the requests of the dialect."""

    def __init__(self, service: Service, access: Access) -> None:
        self._service = service
        self._access = access

    async def translate(self, request: Request) -> Response:
        """POST /v1/translate."""
        begin = time.perf_counter()
        client, service = RequestClient(request), self._service
        if not is_json(request.headers.get("content-type", "")):
            raise Refused(415, "expected a body of type application/json")
        asked = checked(V1Fields, parse_json(await read_body(request, service.limits)))
        cost = cost_of(asked.texts, asked.beam_size)
        self._access.check(
            client.address, asked.api_key, cost * (EXPLAINED if asked.explain else 1)
        )
        service.check_size(asked.texts)
        with service.accepted():
            way = await direction(service, client, asked.source, asked.target, asked.texts)
            # also where there is nothing to do, what cannot be done is refused
            model = way.model or await service.models.opened(*service.models.pairs[0])
            assert model is not None
            wanted = _wanted(model.translator, asked)
            if way.model is None:
                translations = [_described(Answer(text)) for text in asked.texts]
            else:
                answers = await service.texts(client, way.model, asked.texts, wanted)
                translations = [_described(answer) for answer in answers]
                if asked.explain:
                    explained = _explainer(way.model.translator, asked)
                    explanations = await service.each(client, asked.texts, explained)
                    for translation, explanation in zip(translations, explanations, strict=True):
                        translation["explanation"] = asdict(explanation) if explanation else None
        return JSONResponse(
            {
                **_how(way, asked),
                "translations": translations,
                "timing": {"total_ms": _milliseconds(time.perf_counter() - begin)},
            }
        )


def _how(way: Direction, asked: V1Fields) -> dict[str, Any]:
    """Languages, model and selection, as the answer has them."""
    how: dict[str, Any] = {"source": way.source, "target": way.target}
    if way.detected:
        how["detected"] = asdict(way.detected)
    if way.model is None:
        return {**how, "model": None, "selection": "none", "vocabulary_size": 0}
    translator = way.model.translator
    return {
        **how,
        "model": way.model.name,
        "selection": str(translator.selector(asked.wanted_selection)),
        "vocabulary_size": translator.engine.vocab_size,
    }


def _wanted(translator: Translator, asked: V1Fields) -> Wanted:
    """The request for the translator, checked by it."""
    target = translator.tokenizers.target
    try:
        translator.selector(asked.wanted_selection)
    except SieveError as error:
        raise Refused(400, f"Invalid request: {error}") from None
    return Wanted(
        asked.wanted_selection,
        SearchOptions(beam_size=asked.beam_size),
        tuple(asked.include),
        # a word that the vocabulary cannot spell is in no translation anyway
        tuple(word for word in asked.exclude if spellings(target, word)),
    )


def _explainer(translator: Translator, asked: V1Fields) -> Callable[[str], Explanation | None]:
    resources = translator.resources
    names = ["none"]
    if resources.lexicon is not None:
        names.append(LEXICON)
    own = str(translator.selector(asked.wanted_selection))
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
        return explain(translator, text, options) if 0 < tokens <= MAX_TOKENS else None

    return explained


def _described(answer: Answer) -> dict[str, Any]:
    warnings = {"warnings": list(answer.warnings)} if answer.warnings else {}
    return {
        "translation": answer.text,
        "set_size": answer.set_size,
        "score": answer.score,
        "tokens": [{"piece": piece, "score": score} for piece, score in answer.tokens],
        "timing": {
            "queue_ms": _milliseconds(answer.waited),
            "engine_ms": _milliseconds(answer.seconds),
        },
        **warnings,
    }


def _milliseconds(seconds: float) -> float:
    return round(1000.0 * seconds, 3)
