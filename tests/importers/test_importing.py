"""From a source to a directory: origin, card, cache, hub, and damage of every family."""

# private: a line without the verb

import contextlib
import gzip
import json
import os
import random
import re
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from marian_files import SETTINGS, firefox_directory, opus_directory, parameters, write_npz

from sieve.bundle.catalogue import catalogue
from sieve.bundle.directory import open_bundle
from sieve.bundle.weights import float_tensors
from sieve.errors import ConfigError, InputError, ModelError, SieveError
from sieve.importers.cache import cached
from sieve.importers.families import importer_of
from sieve.importers.importing import ImportOptions, file_hashes, import_model
from sieve.importers.opening import changeable_directory, foreign_source, model_directory
from sieve.importers.origin import Origin, languages_in, read_bytes
from sieve.importers.tensors import floats
from sieve.selection.lexicon import Lexicon


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that no other test sees."""
    monkeypatch.setenv("SIEVE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def npz_directory(folder: Path) -> Path:
    firefox_directory(folder)
    spm = folder / "vocab.enpt.spm"
    (folder / "model.enpt.intgemm.alphas.bin").unlink()
    words = importer_words(spm)
    write_npz(folder / "model.npz", SETTINGS, parameters(SETTINGS, words))
    return folder


def importer_words(spm: Path) -> int:
    from marian_files import spm_pieces

    return len(spm_pieces(spm.read_bytes()))


MADE = {"firefox": firefox_directory, "marian": npz_directory, "marianmt": opus_directory}


@pytest.mark.parametrize("family", MADE)
def test_every_family_becomes_a_directory(family: str, tmp_path: Path) -> None:
    folder = MADE[family](tmp_path / "model-en-pt")
    assert importer_of(Origin(folder)).family == family
    done = import_model(Origin(folder), tmp_path / "made", ImportOptions(licence="CC-BY-4.0"))
    bundle = open_bundle(tmp_path / "made")
    assert done.family == family
    assert bundle.is_int8 == (family == "firefox") == (done.form == "int8")
    origin = bundle.config["origin"]
    assert origin["family"] == family and origin["licence"] == "CC-BY-4.0"
    assert all(len(digest) == 64 for digest in origin["files"].values())
    assert bundle.config["languages"] == ["en", "fr" if family == "marianmt" else "pt"]
    card = (tmp_path / "made" / "MODEL_CARD.md").read_text()
    assert "CC-BY-4.0" in card and next(iter(origin["files"].values())) in card
    model = importer_of(Origin(folder)).read(Origin(folder))
    for name, array in float_tensors(bundle).items():
        np.testing.assert_allclose(array, floats(model.tensors[name]), atol=0, err_msg=name)


def test_another_form_of_weights(tmp_path: Path) -> None:
    folder = firefox_directory(tmp_path / "en-pt")
    import_model(Origin(folder), tmp_path / "float", ImportOptions(form="float32"))
    assert not open_bundle(tmp_path / "float").is_int8
    folder = opus_directory(tmp_path / "en-fr")
    import_model(Origin(folder), tmp_path / "small", ImportOptions(form="int8"))
    assert open_bundle(tmp_path / "small").is_int8


def test_the_shortlist_comes_along(tmp_path: Path) -> None:
    import_model(Origin(firefox_directory(tmp_path / "en-pt")), tmp_path / "made")
    lexicon = Lexicon.open(tmp_path / "made")
    assert lexicon.row(5)[0].tolist() == [5, 12]


def test_a_shortlist_with_another_checksum_is_damaged(tmp_path: Path) -> None:
    folder = firefox_directory(tmp_path / "en-pt")
    path = folder / "lex.50.50.enpt.s2t.bin"
    content = bytearray(path.read_bytes())
    content[16] += 1  # one more frequent token
    path.write_bytes(content)
    with pytest.raises(ModelError, match="damaged: its checksum is not the one of its content"):
        import_model(Origin(folder), tmp_path / "made")


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_packed_files(ending: str, tmp_path: Path) -> None:
    folder = firefox_directory(tmp_path / "en-pt")
    plain = cached(Origin(folder))
    for path in list(folder.iterdir()):
        packed = gzip.compress(path.read_bytes())
        if ending == ".zst":
            zstandard = pytest.importorskip("zstandard")
            packed = zstandard.ZstdCompressor().compress(path.read_bytes())
        path.with_name(path.name + ending).write_bytes(packed)
        path.unlink()
    made = cached(Origin(folder))
    assert made != plain
    weights = "model.safetensors"
    assert (made / weights).read_bytes() == (plain / weights).read_bytes()


def test_a_file_that_unpacks_to_too_much(tmp_path: Path) -> None:
    path = tmp_path / "model.bin.gz"
    path.write_bytes(gzip.compress(bytes(200 * 2**20)))
    with pytest.raises(ModelError, match="unpacks to more than"):
        read_bytes(path)
    path.write_bytes(gzip.compress(b"some text")[:-9])
    with pytest.raises(ModelError, match="damaged: the gzip file ends too early"):
        read_bytes(path)
    path.write_bytes(b"plain")
    with pytest.raises(ModelError, match="not a gzip file"):
        read_bytes(path)


def test_the_cache_converts_once_and_follows_the_content(tmp_path: Path, own_cache: Path) -> None:
    folder = firefox_directory(tmp_path / "en-pt")
    made = model_directory(folder)
    assert made.parent == own_cache / "imported" and made.name.startswith("en-pt-")
    before = (made / "config.json").stat().st_mtime_ns
    assert model_directory(str(folder)) == made
    assert (made / "config.json").stat().st_mtime_ns == before
    settings = {**SETTINGS, "transformer-ffn-activation": "swish"}
    firefox_directory(folder, settings)
    assert model_directory(folder) not in (made, None)


def test_what_verbs_take_for_a_model(tmp_path: Path, own_cache: Path) -> None:
    folder = firefox_directory(tmp_path / "en-pt")
    made = cached(Origin(folder))
    assert model_directory(made.name) == made  # as `sieve models` calls it
    assert changeable_directory(folder, tmp_path / "out") == made
    assert changeable_directory(made, None) == made
    for model, kind in ((folder, "an imported model"), ("en-de", "a built-in model")):
        with pytest.raises(ConfigError, match=f"{kind} stays as it is; give --output DIR"):
            changeable_directory(model, None)


def test_two_at_once_make_one(tmp_path: Path, own_cache: Path) -> None:
    folder = firefox_directory(tmp_path / "en-pt")
    made: list[Path] = []
    threads = [
        threading.Thread(target=lambda: made.append(cached(Origin(folder)))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 4 and len(set(made)) == 1
    kept = [path for path in (own_cache / "imported").iterdir() if path.is_dir()]
    assert kept == [made[0]]


def test_a_failed_import_leaves_nothing(tmp_path: Path, own_cache: Path) -> None:
    folder = firefox_directory(tmp_path / "en-pt")
    (folder / "vocab.enpt.spm").write_bytes(b"x")
    with pytest.raises(ModelError, match="not a SentencePiece model"):
        cached(Origin(folder))
    assert not [path for path in (own_cache / "imported").iterdir() if path.is_dir()]


def test_what_a_killed_import_left_is_removed(tmp_path: Path, own_cache: Path) -> None:
    folder = firefox_directory(tmp_path / "en-pt")
    made = cached(Origin(folder))
    left = made.with_name(f".{made.name}.a1b2c3d4")
    made.rename(left)  # not yet in its place
    other = made.with_name(".another.a1b2c3d4")
    other.mkdir()
    assert cached(Origin(folder)) == made
    assert not left.exists() and other.is_dir() and open_bundle(made)


def test_a_hub_name_in_the_cache(
    tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("huggingface_hub")
    hub = tmp_path / "hub"
    repo = hub / "models--Helsinki-NLP--opus-mt-en-fr"
    opus_directory(repo / "snapshots" / ("a" * 40))
    (repo / "refs").mkdir()
    (repo / "refs" / "main").write_text("a" * 40)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(hub))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    made = model_directory("Helsinki-NLP/opus-mt-en-fr")
    assert made.name.startswith("opus-mt-en-fr-")
    assert open_bundle(made).config["origin"]["source"] == "Helsinki-NLP/opus-mt-en-fr"
    with pytest.raises(InputError, match="not in the hub's cache, and the hub cannot give it"):
        model_directory("Helsinki-NLP/opus-mt-en-de")


def test_the_catalogue_lists_what_is_here(tmp_path: Path, own_cache: Path) -> None:
    made = cached(Origin(firefox_directory(tmp_path / "en-pt")))
    import_model(Origin(opus_directory(tmp_path / "en-fr")), tmp_path / "mine" / "french")
    entries = {e.name: e for e in catalogue(own_cache / "imported", (tmp_path / "mine",))}
    imported, local = entries[made.name], entries["french"]
    assert (imported.kind, imported.languages, imported.weights) == (
        "imported",
        ("en", "pt"),
        "int8",
    )
    assert imported.selection == ("lexicon",) and imported.origin["family"] == "firefox"
    assert (local.kind, local.languages, local.selection) == ("local", ("en", "fr"), ())
    # what it was imported from has a config.json, too
    assert all(e.kind == "built-in" for e in catalogue(None, (tmp_path, tmp_path / "en-fr")))


def test_languages_in_names() -> None:
    assert languages_in(["model.enpt.intgemm.alphas.bin"]) == ("en", "pt")
    assert languages_in(["model.npz", "opus-mt-tc-big-en-pt"]) == ("en", "pt")
    assert languages_in(["helsinki_en_fr"]) == ("en", "fr")
    assert languages_in(["Helsinki-NLP/opus-mt-de-en"]) == ("de", "en")
    assert languages_in(["model.bin", "students"]) == ("", "")


def test_what_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="not a model that can be imported"):
        importer_of(Origin(tmp_path))
    (tmp_path / "shared_vocabulary.json").write_text("[]")
    with pytest.raises(ModelError, match="cannot import CTranslate2's models"):
        importer_of(Origin(tmp_path))
    (tmp_path / "config.json").write_text('{"add_source_eos": true}')  # as CTranslate2 has one
    with pytest.raises(ModelError, match="cannot import CTranslate2's models"):
        model_directory(tmp_path)
    with pytest.raises(InputError, match="no such file or directory, and no name on the hub"):
        foreign_source(tmp_path / "none")
    with pytest.raises(SieveError, match="unknown family 'marain'; did you mean 'marian'"):
        importer_of(Origin(tmp_path), "marain")
    made, folder = tmp_path / "made", firefox_directory(tmp_path / "en-pt")
    import_model(Origin(folder), made)
    with pytest.raises(ModelError, match="not a model of the family marianmt, but of firefox"):
        importer_of(Origin(folder), "marianmt")
    with pytest.raises(ModelError, match="is a model directory of Sieve's already"):
        foreign_source(made)


@pytest.mark.parametrize("kind", ["t5", "m2m_100", ["x"]])
def test_other_models_of_hugging_face(kind: Any, tmp_path: Path) -> None:
    """Wherever a model may be named: they have a config.json as ours have."""
    (tmp_path / "config.json").write_text(json.dumps({"model_type": kind}))
    for name in ("model.safetensors", "sentencepiece.bpe.model"):
        (tmp_path / name).write_bytes(b"")
    told = re.escape(f"{tmp_path}: is a model of Hugging Face's type {str(kind)!r}: Sieve imports")
    for read in (importer_of, cached):
        with pytest.raises(ModelError, match=told):
            read(Origin(tmp_path))
    with pytest.raises(ModelError, match=told):
        model_directory(tmp_path)


# ---- damage


def _outcome(source: Path, output: Path) -> str:
    """Imports: `works`, or the text of a SieveError. Anything else is a bug."""
    try:
        import_model(Origin(source), output)
    except SieveError as error:
        assert str(error) and "\n" not in str(error), repr(error)
        assert not output.exists()
        return str(error)
    return "works"


def _changed(content: bytes, rng: random.Random) -> bytes:
    """Cut, longer, or with bytes and numbers that lie."""
    kind = rng.randrange(4)
    if kind == 0:
        return content[: rng.randrange(len(content))]
    if kind == 1:
        return content + rng.randbytes(rng.choice([1, 8, 100]))
    raw = bytearray(content)
    front = min(len(raw), rng.choice([16, 200, 4000, len(raw)]))
    for _ in range(rng.choice([1, 3, 30])):
        place = rng.randrange(front)
        raw[place] = rng.choice([0, 1, 127, 128, 255, rng.randrange(256)])
    if kind == 3 and len(raw) > 16:
        place = rng.randrange(front) // 8 * 8
        lie = rng.choice([2**63, 2**32, 2**31 - 1, 2**64 - 1, 0, len(raw) + 1])
        raw[place : place + 8] = lie.to_bytes(8, "little")
    return bytes(raw)


@pytest.mark.parametrize("family", MADE)
def test_damage_is_one_line_and_costs_no_memory(family: str, tmp_path: Path) -> None:
    import resource

    folder = MADE[family](tmp_path / "en-pt")
    files = {path: path.read_bytes() for path in sorted(folder.iterdir())}
    limit = resource.getrlimit(resource.RLIMIT_AS)
    room = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + 2**31
    resource.setrlimit(resource.RLIMIT_AS, (room, limit[1]))
    outcomes = set()
    try:
        for number in range(60):
            rng = random.Random(number)
            path = rng.choice(list(files))
            path.write_bytes(_changed(files[path], rng))
            outcome = _outcome(folder, tmp_path / f"made{number}")
            outcomes.add(outcome == "works")
            path.write_bytes(files[path])
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limit)
    assert False in outcomes


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 0.0, -3.0])
def test_multipliers_that_are_none(value: float, tmp_path: Path) -> None:
    import struct

    from marian_files import packed

    data = bytes(4) + struct.pack("<f", value) + bytes(248)
    items = [("W", 0x4101, (2, 2), data), ("special:model.yml", 0x0101, (2,), b"a\0")]
    path = tmp_path / "model.bin"
    path.write_bytes(packed(items))
    (tmp_path / "v.spm").write_bytes(
        (firefox_directory(tmp_path / "x") / "vocab.enpt.spm").read_bytes()
    )
    with pytest.raises(ModelError, match=r"tensor W has the multiplier .* expected a number"):
        import_model(Origin(tmp_path), tmp_path / "made")


def test_numbers_that_are_not_finite(tmp_path: Path) -> None:
    folder = npz_directory(tmp_path / "en-pt")
    arrays: dict[str, Any] = parameters(SETTINGS, importer_words(folder / "vocab.enpt.spm"))
    arrays["encoder_l1_ffn_b1"][0, 3] = np.nan
    write_npz(folder / "model.npz", SETTINGS, arrays)
    with pytest.raises(ModelError, match="has weights that are not finite"):
        import_model(Origin(folder), tmp_path / "made")


def test_numbers_that_are_too_large_to_compute_with(tmp_path: Path) -> None:
    folder = npz_directory(tmp_path / "en-pt")
    arrays: dict[str, Any] = parameters(SETTINGS, importer_words(folder / "vocab.enpt.spm"))
    arrays["encoder_l1_ffn_W1"] *= 1e38
    write_npz(folder / "model.npz", SETTINGS, arrays)
    with pytest.raises(ModelError, match=r"model\.npz: its first translations fail: "):
        import_model(Origin(folder), tmp_path / "made")


def test_objects_in_an_npz_are_not_unpickled(tmp_path: Path) -> None:
    folder = npz_directory(tmp_path / "en-pt")
    np.savez(folder / "model.npz", Wemb=np.array([{"a": 1}], object))
    with pytest.raises(ModelError, match=r"got an array of \"{'descr': '\|O'"):
        import_model(Origin(folder), tmp_path / "made")


def test_json_of_the_catalogue_has_the_hashes(tmp_path: Path, own_cache: Path) -> None:
    cached(Origin(firefox_directory(tmp_path / "en-pt")))
    from sieve.cli.models import _as_json

    entry = catalogue(own_cache / "imported")[-1]
    assert len(json.loads(_as_json(entry))["origin"]["files"]) == 3


def link_to_zeros(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("family", MADE)
def test_special_files_as_parts_of_a_model(family: str, tmp_path: Path) -> None:
    """Devices without end and pipes that nobody writes to are refused, or as if not there."""
    names = [path.name for path in MADE[family](tmp_path / "model-en-pt").iterdir()]
    for name in names:
        for number, make in enumerate((os.mkfifo, link_to_zeros)):
            folder = MADE[family](tmp_path / f"{name}-{number}-en-pt")
            (folder / name).unlink()
            make(folder / name)
            with contextlib.suppress(SieveError):
                import_model(Origin(folder), tmp_path / "made", ImportOptions(family=family))
            with contextlib.suppress(SieveError):
                import_model(Origin(folder / name), tmp_path / "made")
            for read in (read_bytes, lambda path: file_hashes([path])):
                with pytest.raises(
                    ModelError, match=r"is a (pipe|device), expected a regular file"
                ):
                    read(folder / name)
