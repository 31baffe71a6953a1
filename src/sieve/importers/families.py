"""The families of models that can be imported, and which of them a source belongs to.

Recognised by content. A new family is a file of its own and a line here.
"""

from sieve.config import unknown
from sieve.errors import ConfigError, ModelError
from sieve.files import read_json
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
    fitting = [importer for importer in FAMILIES if importer.files(source)]
    names = [importer.family for importer in fitting]
    if family is not None:
        known = [importer.family for importer in FAMILIES]
        if family not in known:
            raise ConfigError(unknown("family", family, known))
        if family not in names:
            other = f", but of {' or '.join(names)}" if names else ""
            raise ModelError(f"{source.path}: not a model of the family {family}{other}")
        return fitting[names.index(family)]
    if len(fitting) > 1:
        raise ModelError(f"{source.path}: could be {' or '.join(names)}; say so with --family")
    if not fitting:
        raise ModelError(_no_model(source))
    return fitting[0]


def is_foreign(source: Origin) -> bool:
    """Whether any family knows the source, or it is known to be of another toolkit."""
    return any(importer.files(source) for importer in FAMILIES) or bool(_lacking(source))


def _lacking(source: Origin) -> str:
    """What makes a source a model that no family reads; empty where nothing does."""
    kind = _model_type(source)
    if kind not in ("", "marian"):
        return f"is a model of Hugging Face's type {kind!r}: Sieve imports the type 'marian' only"
    for name, what in _FOREIGN.items():
        if (source.directory / name).is_file():
            return f"has {name}: Sieve cannot import {what}"
    return ""


def _model_type(source: Origin) -> str:
    """The architecture that a config.json of Hugging Face's names."""
    config = source.directory / "config.json"
    try:
        return str(read_json(config).get("model_type", ""))[:40] if config.is_file() else ""
    except ModelError:
        return ""


def _no_model(source: Origin) -> str:
    lacking = _lacking(source)
    if lacking:
        return f"{source.path}: {lacking}"
    return (
        f"{source.path}: not a model that can be imported: expected a Marian .bin or .npz with "
        "its vocabulary, or a MarianMT model of Hugging Face's"
    )
