"""Models of several target languages: whose tag a sentence is read with, and what it does to it."""

import json
from pathlib import Path

import pytest
from marian_files import opus_directory

from sieve.bundle.directory import open_bundle
from sieve.bundle.weights import model_config
from sieve.engines.options import SearchOptions
from sieve.errors import InputError
from sieve.importers.importing import ImportOptions, import_model
from sieve.importers.origin import Origin
from sieve.tokenize.language_tags import cut_tag, shown, tag_for
from sieve.tokenize.tokenizer import source_ids
from sieve.translate.load import load
from sieve.translate.translator import Translator

TAGS = (">>fra<<", ">>por<<")
LONG = " ".join(["the cat sat on the mat."] * 30)


def made(folder: Path, languages: tuple[str, str] | None = None, group: str = "ROMANCE") -> Path:
    """A model of two target languages, imported for one of them or for none."""
    source = opus_directory(folder / "opus-mt-en-ROMANCE", {"init_std": 0.2}, TAGS)
    settings = {"source_lang": "en", "target_lang": group}
    (source / "tokenizer_config.json").write_text(json.dumps(settings))
    sample = ("the cat sat",)
    import_model(
        Origin(source), folder / "model", ImportOptions(languages=languages, sample=sample)
    )
    return folder / "model"


def read(translator: Translator, monkeypatch: pytest.MonkeyPatch, line: str) -> list[list[int]]:
    """What the encoder reads of a line, repairs and all."""
    calls: list[list[int]] = []
    translate = type(translator.engine).translate

    def spied(self, sources, *rest):  # type: ignore[no-untyped-def]
        calls.extend(source.tolist() for source in sources)
        return translate(self, sources, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(type(translator.engine), "translate", spied)
        translator.translate(line, beam_size=1)
    return calls


def test_a_tag_is_no_text_for_repairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    translator = load(made(tmp_path))
    assert translator.languages == ("en", "")
    source = translator.tokenizers.source
    for tag in TAGS:
        for ids in read(translator, monkeypatch, f"{tag} the cat sat on 7 mats."):
            assert ids[0] == source.piece_id(tag) and ids[-1] == source.specials.eos
        assert ">>" not in translator.translate(f"{tag} the cat sat", beam_size=1).text
    with pytest.raises(InputError, match="no such language, expected one of >>fra<< >>por<<"):
        translator.translate(">>deu<< the cat sat")


def test_every_sentence_of_a_long_text_has_the_tag(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    translator = load(made(tmp_path))
    tag = translator.tokenizers.source.piece_id(">>por<<")
    calls = read(translator, monkeypatch, f">>por<< {LONG}\n{LONG}")
    assert len(calls) > 2 and {ids[0] for ids in calls} == {tag}
    own = [
        ids[0]
        for line in (">>fra<< the cat", "the cat")
        for ids in read(translator, monkeypatch, line)
    ]
    assert own == [translator.tokenizers.source.piece_id(piece) for piece in (">>fra<<", "▁the")]


@pytest.mark.parametrize("languages", [("en", "pt"), ("en", "por"), None])
def test_the_target_of_an_import_is_the_tag_of_lines_without_one(
    languages: tuple[str, str] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it is given, by either code, or the model's files tell."""
    directory = made(tmp_path, languages, "por")
    translator = load(directory)
    source = translator.tokenizers.source
    tag = source.piece_id(">>por<<")
    assert tag is not None
    assert (
        model_config(open_bundle(directory)).source_prefix
        == source.specials.source_prefix
        == (tag,)
    )
    text = [*source.encode(["the cat"])[0], 3]
    assert read(translator, monkeypatch, "the cat")[0] == [tag, *text]
    assert read(translator, monkeypatch, ">>fra<< the cat")[0] == [
        source.piece_id(">>fra<<"),
        *text,
    ]
    plain = translator.translate("the cat sat", beam_size=1, repair=False)
    tagged = translator.translate(">>por<< the cat sat", beam_size=1, repair=False)
    assert plain == tagged
    scored = translator.score(["the cat sat", ">>por<< the cat sat"], [plain.text] * 2)
    assert scored[0].token_scores == scored[1].token_scores


def test_positions_are_those_of_the_text(tmp_path: Path) -> None:
    """The tag is before the text, and none of its pieces."""
    translator = load(made(tmp_path, ("en", "pt")))
    options = SearchOptions(beam_size=1, alignment=True)
    line = "the cat sat on the mat"
    pieces = len(translator.tokenizers.source.encode([line])[0])
    [with_tag] = translator.translate([f">>por<< {line}"], options=options, repair=False)
    [without] = translator.translate([line], options=options, repair=False)
    assert with_tag.positions == without.positions
    assert all(0 <= place <= pieces for place in without.positions)
    src_ids = source_ids(translator.tokenizers.source, [line])
    found = translator.engine.translate(src_ids, translator.selector("none"), options)[0][0]
    assert without.positions == tuple(max(0, place - 1) for place in found.positions)


def test_a_model_without_a_target_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    made(tmp_path)
    [message] = caplog.messages
    assert "begin each line with one of >>fra<< >>por<<, or give --languages" in message


def test_tags_of_languages() -> None:
    many = {f">>{code}<<" for code in ("fra", "pt_br", "por", "cmn_Hans", "a", "b", "c", "d", "e")}
    assert tag_for("fr", many) == ">>fra<<" and tag_for("fr-CA", many) == ">>fra<<"
    assert tag_for("pt_br", many) == ">>pt_br<<" and tag_for("pt", many) == ">>por<<"
    assert tag_for("zh", many) is None and tag_for("cmn_Hans", many) == ">>cmn_Hans<<"
    assert tag_for("", many) is None
    assert shown(many).endswith("and 1 more") and shown({">>fra<<"}) == ">>fra<<"
    assert cut_tag(">>a<< x >>b<<", many) == (">>a<<", " x >>b<<")
    assert cut_tag("x >>zz<<", many) == ("", "x >>zz<<")
    assert cut_tag(">>zz<< x", frozenset()) == ("", ">>zz<< x")
