"""Another model's vocabulary beside a model."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from marian_files import firefox_directory

from sieve.errors import ModelError
from sieve.importers.families import importer_of
from sieve.importers.foreign_model import ForeignModel
from sieve.importers.importing import import_model
from sieve.importers.origin import Origin
from sieve.importers.tensors import floats
from sieve.importers.vocabulary_check import alike_pairs, check_vocabularies, share_alike
from sieve.tokenize.imported import ImportedTokenizer
from sieve.tokenize.tokenizer import Tokenizers
from sieve.tokenize.vocabulary import Specials

SHARED = Path(__file__).parents[3] / "shared" / "models"
RNG = np.random.default_rng(0)


def test_pairs_differ_in_a_capital_or_a_space(tmp_path: Path) -> None:
    spm = (firefox_directory(tmp_path) / "vocab.enpt.spm").read_bytes()
    pieces = ["</s>", "<unk>", "the", "The", "▁the", "▁The", "x"]
    tokenizer = ImportedTokenizer(spm, Specials(None, None, 0, 1), pieces)
    expected = {(3, 2), (2, 4), (3, 5), (5, 4)}
    assert {(a, b) for a, b in alike_pairs(tokenizer).tolist()} == expected


def model(tmp_path: Path, alike: bool) -> ForeignModel:
    """A model with 600 pairs, whose vectors are nearly the same or have nothing in common."""
    folder = firefox_directory(tmp_path)
    spm = (folder / "vocab.enpt.spm").read_bytes()
    words = [f"{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(600)]
    pieces = ["</s>", "<unk>", *words, *(f"▁{word}" for word in words)]
    tokenizer = ImportedTokenizer(spm, Specials(None, None, 0, 1), pieces)
    first = RNG.normal(size=(600, 16)).astype(np.float32)
    second = first if alike else RNG.normal(size=(600, 16)).astype(np.float32)
    noise = RNG.normal(size=(1202, 16)).astype(np.float32)
    matrix = np.concatenate([np.zeros((2, 16), np.float32), first, second]) + noise
    read = importer_of(Origin(folder)).read(Origin(folder))
    tokenizers = Tokenizers(tokenizer, tokenizer)
    return replace(read, tensors={"tgt_embedding.weight": matrix}, tokenizers=tokenizers)


def test_pieces_that_are_alike_belong_to_the_model(tmp_path: Path) -> None:
    check_vocabularies(model(tmp_path, alike=True), "model.bin")


def test_pieces_that_are_not_belong_to_another(tmp_path: Path) -> None:
    with pytest.raises(
        ModelError,
        match=r"^model\.bin: the target vocabulary seems to be another model's: .* of 600 pairs, "
        r"expected 65%\); put the model's own beside it$",
    ):
        check_vocabularies(model(tmp_path, alike=False), "model.bin")


def test_few_pairs_decide_nothing(tmp_path: Path) -> None:
    folder = firefox_directory(tmp_path)
    check_vocabularies(importer_of(Origin(folder)).read(Origin(folder)), "model.bin")


@pytest.mark.skipif(
    not SHARED.is_dir(), reason="the Firefox students are not beside this checkout (shared/models)"
)
@pytest.mark.parametrize(("pair", "other"), [("en-pt", "pt-en"), ("pt-en", "en-pt")])
def test_real_models_with_the_vocabulary_of_each_other(
    pair: str, other: str, tmp_path: Path
) -> None:
    source = Origin(SHARED / f"firefox-{pair}")
    own = importer_of(source).read(source)
    matrix = floats(own.tensors["tgt_embedding.weight"])
    assert share_alike(matrix, alike_pairs(own.tokenizers.target)) > 0.98
    for path, pattern in ((source.path, "model*"), (SHARED / f"firefox-{other}", "vocab*")):
        for file in path.glob(pattern):
            shutil.copy(file, tmp_path / file.name)
    with pytest.raises(ModelError, match="the target vocabulary seems to be another model's"):
        import_model(Origin(tmp_path), tmp_path / "made")
    assert not (tmp_path / "made").exists()
