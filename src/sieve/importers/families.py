"""The families of models that can be imported, and which of them a source belongs to.

Recognised by content. A new family is a file of its own and a line here.
"""

from sieve.config import unknown
from sieve.errors import ConfigError, ModelError
from sieve.importers.foreign_model import Importer
from sieve.importers.hugging_face import HuggingFaceMarian
from sieve.importers.marian.marian import MarianBinary, MarianNpz
from sieve.importers.origin import Origin

FAMILIES: tuple[Importer, ...] = (MarianBinary(), MarianNpz(), HuggingFaceMarian())
_FOREIGN = {
    "model.safetensors.index.json": "weights in several files",
    "params.best": "Sockeye's models",
    "shared_vocabulary.json": "CTranslate2's models; import what it was converted from",
    "shared_vocabulary.txt": "CTranslate2's models; import what it was converted from",
    "source_vocabulary.json": "CTranslate2's models; import what it was converted from",
    "sentencepiece.bpe.model": "models of the M2M100 and NLLB families",
}


def importer_of(source: Origin, family: str | None = None) -> Importer:
    """The importer of a source: the one that is named, or the only one that knows its content."""
    if family is not None:
        names = [family_importer.family for family_importer in FAMILIES]
        if family not in names:
            raise ConfigError(unknown("family", family, names))
        chosen = FAMILIES[names.index(family)]
        if not chosen.files(source):
            raise ModelError(f"{source.path}: not a model of the family {family}")
        return chosen
    fitting = [family_importer for family_importer in FAMILIES if family_importer.files(source)]
    if len(fitting) > 1:
        names = [family_importer.family for family_importer in fitting]
        raise ModelError(f"{source.path}: could be {' or '.join(names)}; say so with --family")
    if not fitting:
        raise ModelError(_no_model(source))
    return fitting[0]


def is_foreign(source: Origin) -> bool:
    """Whether any family knows the source."""
    return any(family_importer.files(source) for family_importer in FAMILIES)


def _no_model(source: Origin) -> str:
    for name, what in _FOREIGN.items():
        if (source.directory / name).is_file():
            return f"{source.path}: has {name}: Sieve cannot import {what}"
    return (
        f"{source.path}: not a model that can be imported: expected a Marian .bin or .npz with "
        "its vocabulary, or a MarianMT model of Hugging Face's"
    )
