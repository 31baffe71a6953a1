"""The calls that people have in scripts for transformers 4, on a built-in model."""

# private: no built-in model writes spaces to be tidied

from pathlib import Path
from typing import Any

import pytest
from marian_files import opus_directory

import sieve
from sieve.errors import ConfigError, InputError
from sieve.huggingface.translation_pipeline import TranslationPipeline, _tidied

MORNING = [{"translation_text": "Guten Morgen!"}]


@pytest.fixture(scope="module")
def translator() -> TranslationPipeline:
    return sieve.pipeline("translation", model="en-de", device=-1)


def test_shapes_of_answers(translator: TranslationPipeline) -> None:
    assert translator("Good morning!") == MORNING
    assert translator(["Good morning!"]) == MORNING
    assert [len(answer) for answer in (translator([]), translator(["Good morning!", ""]))] == [0, 2]
    assert list(translator(text for text in ("Good morning!", ""))) == [
        MORNING,
        [{"translation_text": ""}],
    ]
    several = translator(["Good morning!"] * 2, num_beams=3, num_return_sequences=2)
    assert [len(answer) for answer in several] == [2, 2]
    assert several[0][0] == MORNING[0]


def test_a_column_of_a_dataset(translator: TranslationPipeline) -> None:
    class Column:
        """As transformers' KeyDataset: rows by number, nothing else."""

        def __getitem__(self, row: int) -> str:
            return ["Good morning!"][row]

    assert list(translator(Column())) == [MORNING]  # type: ignore[call-overload]


def test_an_iterator_is_read_as_it_is_used(translator: TranslationPipeline) -> None:
    read = []

    def texts() -> Any:
        for text in ("Good morning!", "Thank you!", "Yes."):
            read.append(text)
            yield text

    answers = translator(texts(), batch_size=1)
    assert next(answers) == MORNING
    assert read == ["Good morning!"]


def test_settings_of_scripts(translator: TranslationPipeline) -> None:
    settings = {
        "max_length": 400,
        "num_beams": 4,
        "early_stopping": True,
        "truncation": True,
        "length_penalty": 1.0,
        "src_lang": "en",
        "tgt_lang": "de",
        "clean_up_tokenization_spaces": True,
        "padding": True,
        "use_cache": True,
        "return_text": True,
    }
    assert translator("Good morning!", **settings) == MORNING
    shapes = {"num_workers": 2, "top_p": 1.0, "num_beam_groups": 1, "return_tensors": False}
    assert translator("Good morning!", src_lang="eng_Latn", tgt_lang="de_DE", **shapes) == MORNING
    sampled = translator("Good morning!", do_sample=True, temperature=0.5, top_k=10)
    assert len(sampled) == 1


def test_translations_are_cut_where_they_are_too_long(translator: TranslationPipeline) -> None:
    text = "The weather was bad, so we stayed at home and read a book."
    whole = translator(text)[0]["translation_text"]
    ids = translator.translator.tokenizers.target.encode([whole])[0]
    decode = translator.translator.tokenizers.target.decode
    # the start and the end count
    assert translator(text, max_length=6)[0]["translation_text"] == decode([ids[:4]])[0]
    assert translator(text, max_new_tokens=5)[0]["translation_text"] == decode([ids[:4]])[0]
    assert translator(text, max_length=len(ids) + 2)[0]["translation_text"] == whole


def test_spaces_are_tidied_as_transformers_does() -> None:
    assert _tidied("Ja , wir don 't ! It 's O ' Neil , is n't it ?") == (
        "Ja, wir don 't! It's O'Neil, isn't it?"
    )


def test_the_task_names_the_model() -> None:
    made = sieve.pipeline("translation_en_to_de")
    assert made("Good morning!") == MORNING
    loading = {"tokenizer": "en-de", "framework": "pt", "use_fast": True, "revision": "main"}
    again = sieve.pipeline(
        "translation", made.translator, device_map="cpu", dtype="auto", **loading
    )
    assert again("Good morning!") == MORNING
    assert sieve.pipeline("translation", "en-de", device_map="auto")("Good morning!") == MORNING


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("summarization",), "task: got 'summarization', expected translation"),
        (("translation_de_to_en", "en-de"), "the model translates en to de"),
        (("translation_en_to_xx",), "unknown built-in model 'en-xx'"),
        (("translation",), "unknown built-in model '-'"),
        (("translation", object()), "model: got object, expected the name or directory it was"),
    ],
)
def test_tasks_that_are_none(arguments: tuple[Any, ...], expected: str) -> None:
    with pytest.raises(ConfigError, match=expected):
        sieve.pipeline(*arguments)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"num_beans": 4}, "unknown configuration key 'num_beans'; did you mean 'num_beams'"),
        ({"return_tensors": "pt"}, "return_tensors: got pt, which Sieve cannot do"),
        ({"top_p": 0.9}, r"top_p: got 0\.9, which Sieve cannot do"),
        ({"bad_words_ids": [[3]]}, r"bad_words_ids: got \[\[3\]\], which Sieve cannot do"),
        ({"repetition_penalty": 1.3}, "repetition_penalty: got 1.3, which Sieve cannot do"),
        ({"max_length": 0}, "max_length: got 0, expected at least 1"),
        ({"num_beams": "four"}, "num_beams: got 'four'"),
        ({"tgt_lang": "fr"}, "tgt_lang: got 'fr', the model has de"),
    ],
)
def test_settings_that_are_refused(
    translator: TranslationPipeline, settings: dict[str, Any], expected: str
) -> None:
    with pytest.raises(ConfigError, match=expected):
        translator("Good morning!", **settings)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"torch_dtype": "int4"}, "torch_dtype: got int4"),
        ({"revision": "v2"}, "revision: got v2, which Sieve cannot do"),
        ({"device_map": {"": 0}}, "device_map: got {'': 0}, expected auto, cpu or cuda"),
        ({"device": "tpu"}, "device: got 'tpu', expected cpu"),
    ],
)
def test_ways_to_load_that_are_refused(settings: dict[str, Any], expected: str) -> None:
    with pytest.raises(ConfigError, match=expected):
        sieve.pipeline("translation", model="en-de", **settings)


def test_what_is_no_text(translator: TranslationPipeline) -> None:
    with pytest.raises(InputError, match="text 2: got int, expected a string"):
        translator(["a", 3])  # type: ignore[list-item]
    with pytest.raises(InputError, match="got int, expected a text or several"):
        translator(3)  # type: ignore[call-overload]


def test_a_model_of_several_languages_is_told_the_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIEVE_CACHE", str(tmp_path / "cache"))
    folder = opus_directory(tmp_path / "many", tags=(">>fra<<", ">>por<<"))
    (folder / "tokenizer_config.json").unlink()
    made = sieve.pipeline("translation", model=str(folder))
    tagged = made(">>por<< the cat sat", max_length=12)
    assert made("the cat sat", tgt_lang="por", max_length=12) == tagged
    with pytest.raises(ConfigError, match="tgt_lang: got 'deu', the model has no such language"):
        made("the cat sat", tgt_lang="deu")
