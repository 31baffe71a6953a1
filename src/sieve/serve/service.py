"""Translates the texts of a request: sentences to the dispatcher, answers back in place.

Knows models, limits and clients that leave; knows neither dialects nor HTTP.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

from sieve.errors import SieveError
from sieve.processes.cores import usable_cores
from sieve.processes.memory import return_memory
from sieve.segment.layout import TextLayout, laid_out
from sieve.serve.access_log import Note
from sieve.serve.common import Common
from sieve.serve.detect import Detector
from sieve.serve.dispatcher import Dispatcher, Outcome
from sieve.serve.file_work import FileWork
from sieve.serve.models import Model, Models
from sieve.serve.refusal import Abandoned, Refused
from sieve.serve.settings import Limits, Settings
from sieve.serve.telemetry import Telemetry
from sieve.translate.parts import MAX_TOKENS
from sieve.translate.translation import Request, Translation
from sieve.translate.translator import Translator

T = TypeVar("T")

BATCH_CHARACTERS = 500
"""Of sentences that a thread takes together. The native engine gains nothing from batches but one
call instead of several; long ones would only wait for each other."""
DIRECTLY = 1000
"""Characters split in the event loop; more are split in a thread, so that others need not wait."""
DOCUMENTS = 2
"""That are in memory at a time; who sends another one is told to try again."""
WRITERS = 4
"""Threads that read and write documents."""
END = "</s>"


class Client(Protocol):
    """Who waits for an answer."""

    @property
    def note(self) -> Note:
        """What the log will say of the request."""
        ...

    async def gone(self) -> None:
        """Returns when nobody waits any more."""


@dataclass(frozen=True)
class Answer:
    """The translation of a text and how it came about."""

    text: str
    alternatives: tuple[str, ...] = ()
    set_size: int = 0
    """The largest of its sentences; 0 where there was nothing to translate."""
    score: float = 0.0
    tokens: tuple[tuple[str, float], ...] = ()
    """Pieces and their log-probabilities, ends of sentences included."""
    waited: float = 0.0
    """Seconds until a thread was free for its first sentence."""
    seconds: float = 0.0
    """That threads worked on its sentences and those they were taken with."""
    warnings: tuple[str, ...] = ()
    """What may be wrong with the text."""


class Service:
    """Everything that a server does, without the web."""

    def __init__(self, models: Models, settings: Settings, common: Common | None = None) -> None:
        """Serves what settings allow.

        Args:
            models: To translate with; `renew` gives others.
            settings: Limits and threads.
            common: What all workers of the server have in common.
        """
        self.common: Common = common or Common()
        self.limits: Limits = settings.limits
        self.models: Models = models
        self.detector: Detector = Detector(models.languages)
        threads = settings.threads or usable_cores()
        self._dispatcher = Dispatcher(threads, BATCH_CHARACTERS)
        self._writers = ThreadPoolExecutor(WRITERS, thread_name_prefix="sieve-writer")
        self._board = self.common.board
        self.telemetry: Telemetry = Telemetry(self._board, self.beat)

    def close(self) -> None:
        """Finishes the requests that were accepted."""
        self._writers.shutdown()
        self._dispatcher.close()
        if self.common.log is not None:
            self.common.log.close()

    def beat(self) -> None:
        """Says on the board what this worker is doing."""
        self._board.beat(waiting=self._dispatcher.waiting, models=len(self.models.open))

    def renew(self, models: Models) -> None:
        """Takes other models; requests under way keep theirs."""
        left = self.models.left_by(models)
        if models.languages != self.models.languages:
            self.detector = Detector(models.languages)
        self.models = models
        while left:
            left.pop().close()
        return_memory()

    def check_ready(self) -> None:
        """Refuses where a further request would be refused."""
        if self._board.total("accepted") >= self.limits.requests:
            raise Refused(503, "not ready: the queue is full", "busy", retry_after=1)

    @contextmanager
    def accepted(self) -> Iterator[None]:
        """A place among the requests being worked on, or a refusal if all are taken."""
        with self._board.place("accepted", self.limits.requests) as free:
            if not free:
                raise Refused(503, "the server is busy, try again", "busy", retry_after=1)
            yield

    @contextmanager
    def document(self) -> Iterator[None]:
        """A place among the documents in memory, or a refusal if all are taken."""
        with self._board.place("documents", DOCUMENTS) as free:
            if not free:
                raise Refused(503, "the server is busy, try again", "busy", retry_after=5)
            yield

    def check_size(self, texts: Sequence[str]) -> None:
        """Refuses a request with too much text."""
        for size, limit in (
            (len(texts), self.limits.texts),
            (sum(map(len, texts)), self.limits.characters),
        ):
            if size > limit:
                raise Refused(
                    400,
                    f"Invalid request: request ({size}) exceeds text limit ({limit})",
                    "too_large",
                )

    async def texts(
        self, client: Client, model: Model, texts: Sequence[str], request: Request
    ) -> list[Answer]:
        """Translations of texts."""
        begin = time.perf_counter()
        layouts = await self._laid_out(model.translator, texts)
        sentences = [sentence for layout in layouts for sentence in layout.sentences]
        order = asyncio.wrap_future(self._submit(model, request, sentences))
        outcomes = await self._finished(client, order)
        answers, start = [], 0
        for layout in layouts:
            end = start + len(layout.sentences)
            answers.append(self._answer(model, layout, outcomes[start:end]))
            start = end
        self.telemetry.took(model.name, time.perf_counter() - begin)
        return answers

    async def html(self, client: Client, model: Model, texts: Sequence[str]) -> list[Answer]:
        """Translations of pieces of HTML, whose sentences are among those of other requests."""
        begin = time.perf_counter()
        answers = await self._finished(client, asyncio.ensure_future(self._html(model, texts)))
        self.telemetry.took(model.name, time.perf_counter() - begin)
        return answers

    async def file(self, client: Client, model: Model, work: FileWork) -> bytes:
        """The translation of a document, whose sentences are among those of other requests."""
        submit = partial(self._submit, model)
        running = asyncio.get_running_loop().run_in_executor(
            self._writers, work.run, model.translator, submit
        )
        try:
            return await self._finished(client, running, self.limits.file_seconds)
        finally:
            work.stop()

    async def each(
        self, client: Client, texts: Sequence[str], function: Callable[[str], T]
    ) -> list[T]:
        """Results of another function of texts, run on the engine's threads."""
        order = self._dispatcher.submit(object(), lambda batch: [*map(function, batch)], texts)
        outcomes = await self._finished(client, asyncio.wrap_future(order))
        return [outcome.value for outcome in outcomes]

    def _submit(
        self, model: Model, request: Request, sentences: Sequence[str]
    ) -> Future[list[Outcome[Translation]]]:
        run = partial(model.runner.run, request=request)
        order = self._dispatcher.submit((model, request), run, sentences)
        order.add_done_callback(partial(self._count, model.name))
        return order

    def _count(self, model: str, order: Future[list[Outcome[Translation]]]) -> None:
        if not order.cancelled() and order.exception() is None:
            for outcome in order.result():
                self.telemetry.translated(model, outcome.value.shortlist_size)

    async def _html(self, model: Model, texts: Sequence[str]) -> list[Answer]:
        from sieve.documents import read_document, token_counter  # not before the first document

        in_thread = partial(asyncio.get_running_loop().run_in_executor, self._writers)
        counter = token_counter(model.translator)
        answers = []
        for text in texts:
            document = await in_thread(read_document, text, "html", counter)
            sentences, calls = document.sentences, document.calls(Request())
            orders = [
                self._submit(model, request, [sentences[row] for row in rows])
                for rows, request in calls
            ]
            results = await asyncio.gather(*map(asyncio.wrap_future, orders))
            translations = {
                row: outcome.value
                for (rows, _), outcomes in zip(calls, results, strict=True)
                for row, outcome in zip(rows, outcomes, strict=True)
            }
            ordered = [translations[row] for row in range(len(sentences))]
            answers.append(Answer(await in_thread(document.written, model.translator, ordered)))
        return answers

    async def _laid_out(self, translator: Translator, texts: Sequence[str]) -> list[TextLayout]:
        def length(text: str) -> int:
            return len(translator.tokenizers.source.encode([text])[0])

        def layouts() -> list[TextLayout]:
            return [laid_out(text, length, MAX_TOKENS) for text in texts]

        if sum(map(len, texts)) <= DIRECTLY:
            return layouts()
        return await asyncio.to_thread(layouts)

    async def _finished(
        self, client: Client, waiting: asyncio.Future[T], seconds: float | None = None
    ) -> T:
        """A result, unless the client leaves or it takes too long."""
        seconds = seconds or self.limits.seconds
        left = asyncio.ensure_future(client.gone())
        try:
            await asyncio.wait(
                (waiting, left),
                timeout=seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if waiting.done():
                return waiting.result()
            if left.done():
                raise Abandoned
            raise Refused(
                503,
                f"not done within {seconds:g} seconds, send less text or try later",
                "too_long",
                retry_after=math.ceil(seconds),
            )
        except SieveError as error:
            raise Refused(400, str(error)) from None
        finally:
            waiting.cancel()  # and with it the orders: what has not begun never will
            left.cancel()

    def _answer(
        self, model: Model, layout: TextLayout, outcomes: Sequence[Outcome[Translation]]
    ) -> Answer:
        language = model.translator.languages[1]
        translations = [outcome.value for outcome in outcomes]
        if not translations:
            return Answer(layout.filled([], language))
        ranked = [best.n_best or (best,) for best in translations]
        texts = [
            layout.filled([ranks[min(rank, len(ranks) - 1)].text for ranks in ranked], language)
            for rank in range(max(map(len, ranked)))
        ]
        return Answer(
            text=texts[0],
            alternatives=tuple(dict.fromkeys(text for text in texts[1:] if text != texts[0])),
            set_size=max(each.shortlist_size for each in translations),
            score=sum(each.score for each in translations),
            tokens=tuple(
                # the end of a sentence has a score and no piece
                pair
                for each in translations
                for pair in zip((*each.pieces, END), each.token_scores, strict=False)
            ),
            waited=min(outcome.waited for outcome in outcomes),
            seconds=sum(outcome.seconds for outcome in outcomes),
            warnings=tuple(warning for each in translations for warning in each.warnings),
        )
