"""Marian's models: Firefox's and Bergamot's students in binary files, and `.npz` files.

Both hold the same parameters under the same names and are fully described by the settings within.
"""

from pathlib import Path

from sieve.errors import ModelError
from sieve.importers.foreign_model import ForeignModel
from sieve.importers.marian.flat_yaml import flat_yaml
from sieve.importers.marian.marian_binary import Marian, is_marian_binary, read_marian_binary
from sieve.importers.marian.marian_npz import read_marian_npz
from sieve.importers.marian.marian_parameters import marian_tensors
from sieve.importers.marian.marian_settings import marian_config
from sieve.importers.marian.marian_shortlist import read_marian_shortlist
from sieve.importers.marian.marian_vocabularies import read_vocabularies, vocabulary_files
from sieve.importers.origin import Origin, beginning, plain_name, read_bytes


class MarianBinary:
    """Students as Firefox and Bergamot publish them: `*.intgemm.alphas.bin`, packed or not."""

    family = "firefox"

    def files(self, source: Origin) -> list[Path]:
        """The model, its vocabularies, its shortlist."""
        models = [
            path
            for path in _candidates(source, ".bin")
            if not path.name.startswith("lex.") and is_marian_binary(beginning(path, 16))
        ]
        return _files(source, models)

    def read(self, source: Origin) -> ForeignModel:
        """Reads the files."""
        path = self.files(source)[0]
        return _model(source, path, read_marian_binary(read_bytes(path), str(path)))


class MarianNpz:
    """What Marian trains: `.npz` with SentencePiece or YAML vocabularies."""

    family = "marian"

    def files(self, source: Origin) -> list[Path]:
        """The model, its vocabularies, its shortlist."""
        models = [p for p in _candidates(source, ".npz") if beginning(p, 4) == b"PK\3\4"]
        return _files(source, models)

    def read(self, source: Origin) -> ForeignModel:
        """Reads the files."""
        path = self.files(source)[0]
        return _model(source, path, read_marian_npz(path))


def _candidates(source: Origin, ending: str) -> list[Path]:
    """The file that was named, or those of a directory."""
    if source.path.is_file():
        return [source.path] if plain_name(source.path).endswith(ending) else []
    return source.named(ending)


def _files(source: Origin, models: list[Path]) -> list[Path]:
    if len(models) > 1:
        names = ", ".join(path.name for path in models)
        raise ModelError(f"{source.path}: has several models: {names}; name one of them")
    return (
        [*models, *dict.fromkeys(vocabulary_files(source)), *_shortlist(source)] if models else []
    )


def _shortlist(source: Origin) -> list[Path]:
    return [path for path in source.named(".bin") if path.name.startswith("lex.")][:1]


def _model(source: Origin, path: Path, marian: Marian) -> ForeignModel:
    where = str(path)
    tokenizers = read_vocabularies(source)
    sizes = (tokenizers.source.vocab_size, tokenizers.target.vocab_size)
    specials = tokenizers.target.specials
    if tokenizers.source.specials != specials:
        raise ModelError(
            f"{source.directory}: the vocabularies of the two sides end sentences "
            "with different ids, which Sieve cannot run"
        )
    config = marian_config(marian.settings, sizes, specials, where)
    options = flat_yaml(marian.settings, where)
    omit_bias = options.get("output-omit-bias") is True
    tensors = marian_tensors(marian, config, omit_bias, where)
    lexicon = None
    for shortlist in _shortlist(source):
        lexicon = read_marian_shortlist(read_bytes(shortlist), sizes, str(shortlist))
    return ForeignModel(config, tensors, tokenizers, lexicon)
