"""MarianMT as Hugging Face keeps it (OPUS-MT): config.json, weights, SentencePiece, vocab.json.

Its positions, its norms' epsilon and its start differ from Marian's own: an import equals the port.
"""

import pickle  # for its error: nothing is unpickled here
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sieve.errors import ModelError, require
from sieve.files import read_json, read_tensors
from sieve.importers.foreign_model import ForeignModel
from sieve.importers.hugging_face_settings import hugging_face_config
from sieve.importers.hugging_face_tensors import hugging_face_tensors
from sieve.importers.origin import Origin, read_bytes
from sieve.tokenize.imported import ImportedTokenizer
from sieve.tokenize.tokenizer import Tokenizers
from sieve.tokenize.vocabulary import Specials

_CONFIG, _GENERATION, _TOKENIZER = "config.json", "generation_config.json", "tokenizer_config.json"
_SAFE, _PICKLED = "model.safetensors", "pytorch_model.bin"
_SPM = ("source.spm", "target.spm")
_VOCABULARY, _TARGET_VOCABULARY = "vocab.json", "target_vocab.json"


class HuggingFaceMarian:
    """OPUS-MT and other MarianMT models."""

    family = "marianmt"

    def files(self, source: Origin) -> list[Path]:
        """Weights, configuration, vocabularies; safetensors before a pickled file."""
        config = source.directory / _CONFIG
        if not config.is_file() or read_json(config).get("model_type") != "marian":
            return []
        names = (_CONFIG, _GENERATION, _TOKENIZER, *_SPM, _VOCABULARY, _TARGET_VOCABULARY)
        there = [path for name in names if (path := source.directory / name).is_file()]
        return [_weights(source), *there]

    def read(self, source: Origin) -> ForeignModel:
        """Reads the files."""
        folder = source.directory
        settings = read_json(folder / _CONFIG)
        generation = _optional(folder / _GENERATION)
        tokenizer = _optional(folder / _TOKENIZER)
        source_pieces = _pieces(folder / _VOCABULARY)
        separate = tokenizer.get("separate_vocabs") is True
        target_pieces = _pieces(folder / _TARGET_VOCABULARY) if separate else source_pieces
        unk = _unknown(tokenizer, source_pieces, target_pieces, folder)
        sizes = (len(source_pieces), len(target_pieces))
        config = hugging_face_config(settings, generation, sizes, unk, str(folder / _CONFIG))
        _check_end(tokenizer, config.eos, (source_pieces, target_pieces), folder)
        sides = [
            _tokenizer(folder / name, config.specials, pieces)
            for name, pieces in zip(_SPM, (source_pieces, target_pieces), strict=True)
        ]
        weights = _weights(source)
        arrays = read_tensors(weights) if weights.name == _SAFE else _unpickled(weights)
        config, tensors = hugging_face_tensors(arrays, config, str(weights))
        return ForeignModel(config, tensors, Tokenizers(sides[0], sides[1]))


def _weights(source: Origin) -> Path:
    """The weights that were named, or those of the directory."""
    named = [source.path] if source.path.is_file() and source.path.name != _CONFIG else []
    for path in (*named, source.directory / _SAFE, source.directory / _PICKLED):
        if path.is_file():
            return path
    raise ModelError(f"{source.directory}: has no weights: expected {_SAFE} or {_PICKLED}")


def _optional(path: Path) -> dict[str, Any]:
    return read_json(path) if path.is_file() else {}


def _pieces(path: Path) -> list[str]:
    """The pieces of a vocab.json in the order of their ids."""
    ids = read_json(path)
    if any(type(index) is not int for index in ids.values()):
        raise ModelError(f"{path}: expected pieces and their ids")
    if sorted(ids.values()) != list(range(len(ids))):
        raise ModelError(f"{path}: the ids of its {len(ids)} pieces are not 0 to {len(ids) - 1}")
    return sorted(ids, key=ids.__getitem__)


def _unknown(
    tokenizer: Mapping[str, Any], source: list[str], target: list[str], folder: Path
) -> int:
    """The id of unknown pieces, the same on both sides."""
    piece = tokenizer.get("unk_token", "<unk>")
    if isinstance(piece, Mapping):  # as older versions wrote added tokens
        piece = piece.get("content")
    if piece not in source or piece not in target:
        raise ModelError(f"{folder / _VOCABULARY}: lacks the piece {piece!r} for unknown ones")
    if source.index(piece) != target.index(piece):
        raise ModelError(f"{folder}: the two vocabularies have different ids for {piece!r}")
    return source.index(piece)


def _check_end(
    tokenizer: Mapping[str, Any], eos: int, vocabularies: tuple[list[str], list[str]], folder: Path
) -> None:
    """The tokenizer ends a source with the piece `</s>`, the model a translation with its id."""
    piece = tokenizer.get("eos_token", "</s>")
    if isinstance(piece, Mapping):
        piece = piece.get("content")
    for pieces in vocabularies:
        if not 0 <= eos < len(pieces) or pieces[eos] != piece:
            other = repr(pieces[eos]) if 0 <= eos < len(pieces) else "no piece"
            raise ModelError(
                f"{folder / _CONFIG}: eos_token_id is {eos}, which is {other} in the vocabulary, "
                f"expected {piece!r}"
            )


def _tokenizer(path: Path, specials: Specials, pieces: list[str]) -> ImportedTokenizer:
    if not path.is_file():
        raise ModelError(f"{path}: no such file; a MarianMT model has {' and '.join(_SPM)}")
    return ImportedTokenizer(read_bytes(path), specials, pieces, str(path))


def _unpickled(path: Path) -> dict[str, npt.NDArray[Any]]:
    """The tensors of a file of torch's, which reads tensors and nothing else of it."""
    torch = require("torch", "import", f"reading {path.name}, which is torch's own format,")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about versions of pickle, which are not asked for
            state = torch.load(path, map_location="cpu", weights_only=True)
        arrays = {str(name): tensor.float().numpy() for name, tensor in dict(state).items()}
    except pickle.UnpicklingError:  # torch's words advise to run it
        raise ModelError(
            f"{path}: damaged, or holds more than tensors, which might be a program: not read"
        ) from None
    except Exception as error:  # whatever a damaged or hostile file makes of it
        line = " ".join(str(error).split())[:200]
        raise ModelError(f"{path}: not a file of tensors: {line or type(error).__name__}") from None
    return {name: np.ascontiguousarray(array) for name, array in arrays.items()}
