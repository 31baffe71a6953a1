"""`sieve.pipeline("translation", model=…)`: the calls of Hugging Face's translation pipeline.

Scripts written for transformers 4 need one changed import. What is asked for is done or refused in
one sentence (`pipeline_settings`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from sieve.bundle.catalogue import built_in
from sieve.config import unknown
from sieve.errors import ConfigError, InputError
from sieve.huggingface.pipeline_settings import CallSettings, settings_of
from sieve.tokenize.language_tags import same_language, tag_for
from sieve.translate.load import load
from sieve.translate.translation import Request, Translation
from sieve.translate.translator import Translator

Answer = list[dict[str, str]]
_TASK = re.compile(r"translation(?:_([a-zA-Z]{2,8})_to_([a-zA-Z]{2,8}))?")
_TIDY = {
    **{f" {mark}": mark for mark in ".?!,"},
    " ' ": "'",
    **{f" {ending}": ending for ending in ("n't", "'m", "'s", "'ve", "'re")},
}
"""What transformers makes of a translation where tidying is asked for, in this order."""
_AT_ONCE = 64
"""Texts of an iterator that are translated in one go where no batch_size is given."""


@dataclass(frozen=True)
class TranslationPipeline:
    """Texts in, `[{"translation_text": …}]` out. Made by `sieve.pipeline`."""

    translator: Translator
    settings: CallSettings = field(default_factory=CallSettings)
    """What a call asks for that does not say otherwise."""

    @overload
    def __call__(self, text: str | Sequence[str], **settings: Any) -> list[Any]: ...

    @overload
    def __call__(self, text: Iterator[str], **settings: Any) -> Iterator[Answer]: ...

    def __call__(
        self, text: str | Sequence[str] | Iterator[str], **settings: Any
    ) -> list[Any] | Iterator[Answer]:
        """Translates a text, a list of texts, or an iterator's as it is read.

        A text gives a list with an answer; a list gives an answer for each text, or a list of
        answers where several are asked for; an iterator gives such lists one by one.

        Args:
            text: What to translate.
            settings: Of `CallSettings`, by the names that transformers has for them.
        """
        asked = settings_of(settings, self.settings)
        if isinstance(text, str):
            return self._answers([text], asked)[0]
        if isinstance(text, list | tuple):
            answers = self._answers(text, asked)
            single = asked.num_return_sequences == 1
            return [answer[0] for answer in answers] if single else answers
        several = isinstance(text, Iterable) or hasattr(text, "__getitem__")  # a dataset's column
        if not several or isinstance(text, bytes | dict):
            raise InputError(f"got {type(text).__name__}, expected a text or several")
        return self._one_by_one(iter(text), asked)

    def _one_by_one(self, texts: Iterator[str], asked: CallSettings) -> Iterator[Answer]:
        """Answers in order, some texts at a time."""
        waiting: list[str] = []
        for text in texts:
            waiting.append(text)
            if len(waiting) == (asked.batch_size or _AT_ONCE):
                yield from self._answers(waiting, asked)
                waiting = []
        if waiting:
            yield from self._answers(waiting, asked)

    def _answers(self, texts: Sequence[str], asked: CallSettings) -> list[Answer]:
        for place, text in enumerate(texts, start=1):
            if not isinstance(text, str):
                raise InputError(f"text {place}: got {type(text).__name__}, expected a string")
        tag = _tag(self.translator, asked)
        request = Request(asked.selection, asked.search(), repair=asked.repair)
        translations = self.translator.run(
            [f"{tag}{text}" if text else "" for text in texts], request
        )
        return [self._answer(translation, asked) for translation in translations]

    def _answer(self, translation: Translation, asked: CallSettings) -> Answer:
        variants = translation.n_best or (translation,)
        texts = [self._cut(variant, asked.most_tokens) for variant in variants]
        if asked.clean_up_tokenization_spaces:
            texts = [_tidied(text) for text in texts]
        return [{"translation_text": text} for text in texts]

    def _cut(self, translation: Translation, most: int | None) -> str:
        if most is None or len(translation.ids) <= most:
            return translation.text
        return self.translator.tokenizers.target.decode([translation.ids[:most]])[0]


def pipeline(
    task: str = "translation",
    model: str | Translator | None = None,
    *,
    device: object = None,
    device_map: object = None,
    torch_dtype: object = None,
    dtype: object = None,
    **settings: Any,
) -> TranslationPipeline:
    """A translation pipeline as transformers 4 had it.

    Examples:
        >>> import sieve
        >>> translator = sieve.pipeline("translation_en_to_de", model="en-de")
        >>> translator("Good morning!")
        [{'translation_text': 'Guten Morgen!'}]
        >>> [answer["translation_text"] for answer in translator(["Good morning!", "Thank you!"])]
        ['Guten Morgen!', 'Danke!']

    Args:
        task: `translation` or `translation_XX_to_YY`.
        model: Whatever `sieve.load` takes, a name on the hub included; by default the built-in
            model of the task's languages.
        device: -1 or `cpu`; a number or `cuda` for a GPU.
        device_map: `auto` for a GPU where there is one, or a device.
        torch_dtype: float32, float16 or bfloat16; by default that of the weights.
        dtype: The newer name of `torch_dtype`.
        settings: What every call asks for, see `CallSettings`. A tokenizer is not needed: a model
            brings its own.
    """
    languages = _task_languages(task)
    if model is None:
        model = _default_model(languages)
    if not isinstance(model, str | Translator) and not hasattr(model, "__fspath__"):
        raise ConfigError(
            f"model: got {type(model).__name__}, expected the name or directory it "
            "was loaded from, or a Translator"
        )
    place = _device(device if device_map is None else _mapped(device_map))
    precision = _precision(dtype if torch_dtype is None else torch_dtype)
    defaults = settings_of(settings)
    translator = (
        model if isinstance(model, Translator) else load(model, device=place, precision=precision)
    )
    if all(languages) and all(translator.languages) and languages != translator.languages:
        told, own = "_to_".join(languages), " to ".join(translator.languages)
        raise ConfigError(f"task: got translation_{told}, the model translates {own}")
    return TranslationPipeline(translator, defaults)


def _task_languages(task: str) -> tuple[str, str]:
    match = _TASK.fullmatch(task)
    if match is None:
        raise ConfigError(
            f"task: got '{task}', expected translation or translation_XX_to_YY: Sieve translates "
            "and does nothing else"
        )
    return match[1] or "", match[2] or ""


def _default_model(languages: tuple[str, str]) -> str:
    name, names = "-".join(languages), sorted(built_in())
    if name not in names:
        raise ConfigError(f"model: {unknown('built-in model', name, names)}")
    return name


def _device(device: object) -> str:
    """As Sieve calls it: -1 is the CPU, a number a GPU."""
    if device is None or device == -1:
        return "cpu"
    return f"cuda:{device}" if type(device) is int else str(device)


def _mapped(device_map: object) -> str:
    """The one device of a map."""
    if not isinstance(device_map, str):
        raise ConfigError(f"device_map: got {str(device_map)[:80]}, expected auto, cpu or cuda")
    if device_map != "auto":
        return device_map
    try:  # imported here: most installations have no torch
        import torch
    except ImportError:
        return "cpu"
    return "cuda" if torch.cuda.is_available() else "cpu"


def _precision(dtype: object) -> Any:
    name = str(dtype).removeprefix("torch.")
    if name in ("None", "auto"):
        return None
    if name not in ("float32", "float16", "bfloat16"):
        raise ConfigError(f"torch_dtype: got {dtype}, expected float32, float16 or bfloat16")
    return name


def _tidied(text: str) -> str:
    for spaced, tidy in _TIDY.items():
        text = text.replace(spaced, tidy)
    return text


def _tag(translator: Translator, asked: CallSettings) -> str:
    """What stands before a text where a model has several target languages."""
    for side, language in enumerate((asked.src_lang, asked.tgt_lang)):
        own = translator.languages[side]
        if language is None or (own and same_language(language, own)):
            continue
        tag = tag_for(language, translator.tokenizers.source.tags)
        if side == 1 and tag is not None:
            return f"{tag} "
        if own or side == 1:
            name = ("src_lang", "tgt_lang")[side]
            raise ConfigError(
                f"{name}: got '{language}', the model has {own or 'no such language'}"
            )
    return ""
