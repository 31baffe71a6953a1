"""What calls and scripts of transformers' translation pipeline ask for, by the names they use.

A setting is done, or without a meaning here, or refused in one sentence where it would change what
is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from sieve.config import from_dict
from sieve.engines.options import Sampling, SearchOptions
from sieve.errors import ConfigError

_WITHOUT_MEANING = {
    *("config", "feature_extractor", "framework", "image_processor", "processor", "tokenizer"),
    *("num_workers", "trust_remote_code", "use_fast"),
    *("early_stopping", "padding", "truncation", "use_cache"),
}
"""A model brings its own tokenizer, and no line is too long or in need of padding."""
_ONLY: dict[str, tuple[Any, ...]] = {
    "return_tensors": (None, False),
    "return_text": (None, True),
    "min_length": (None, 0),
    "min_new_tokens": (None, 0),
    "top_p": (None, 1.0),
    "typical_p": (None, 1.0),
    "num_beam_groups": (None, 1),
    "diversity_penalty": (None, 0.0),
    "repetition_penalty": (None, 1.0),
    "encoder_no_repeat_ngram_size": (None, 0),
    "no_repeat_ngram_size": (None, 0),
    "bad_words_ids": (None,),
    "force_words_ids": (None,),
    "forced_bos_token_id": (None,),
    "prefix": (None, ""),
    "generation_config": (None,),
    "model_kwargs": (None, {}),
    "revision": (None, "main"),
    "token": (None, False),
    "use_auth_token": (None, False),
}
"""Settings of transformers that Sieve lacks, and what they may be because that changes nothing."""


@dataclass(frozen=True)
class CallSettings:
    """What a call may ask for, by the names of transformers; `selection` and `repair` are ours."""

    max_length: int | None = None
    """Tokens of a translation, its start and end counted; longer ones are cut."""
    max_new_tokens: int | None = None
    num_beams: int | None = None
    num_return_sequences: int = 1
    length_penalty: float | None = None
    do_sample: bool = False
    temperature: float = 1.0
    top_k: int = 50
    batch_size: int | None = None
    """Texts of an iterator that are translated in one go; others are sorted into batches anyway."""
    src_lang: str | None = None
    tgt_lang: str | None = None
    selection: str | None = None
    repair: bool = False
    """Whether Sieve puts numbers, names and the like right; the origin does not."""
    clean_up_tokenization_spaces: bool | None = None

    def __post_init__(self) -> None:
        for name in ("max_length", "max_new_tokens", "batch_size", "num_return_sequences"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"{name}: got {value}, expected at least 1")

    def search(self) -> SearchOptions:
        """In Sieve's own terms."""
        plain = SearchOptions()
        beams = plain.beam_size if self.num_beams is None else self.num_beams
        penalty = plain.length_penalty if self.length_penalty is None else self.length_penalty
        if self.do_sample:
            sampling = Sampling(temperature=self.temperature, top_k=self.top_k)
            return replace(plain, n_best=self.num_return_sequences, sampling=sampling)
        return replace(
            plain, beam_size=beams, n_best=self.num_return_sequences, length_penalty=penalty
        )

    @property
    def most_tokens(self) -> int | None:
        """Tokens that a translation keeps, its end not counted."""
        if self.max_new_tokens is not None:
            return self.max_new_tokens - 1
        return None if self.max_length is None else max(0, self.max_length - 2)


def settings_of(asked: Mapping[str, Any], plain: CallSettings | None = None) -> CallSettings:
    """The settings that are asked for; one that Sieve lacks is a ConfigError.

    Args:
        asked: By the names of transformers.
        plain: What holds where nothing is asked.
    """
    for name, able in _ONLY.items():
        value = asked.get(name)
        if value not in able:
            raise ConfigError(f"{name}: got {str(value)[:80]}, which Sieve cannot do")
    known = {k: v for k, v in asked.items() if k not in _ONLY and k not in _WITHOUT_MEANING}
    return from_dict(CallSettings, {**asdict(plain or CallSettings()), **known})
