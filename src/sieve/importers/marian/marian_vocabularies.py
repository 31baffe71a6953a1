"""The vocabularies beside a Marian model: SentencePiece models, or lists of pieces with one.

Knows which file is whose side by the settings beside the model or by its name.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sieve.errors import ModelError, require
from sieve.importers.marian.flat_yaml import flat_yaml
from sieve.importers.origin import Origin, languages_in, plain_name, read_bytes
from sieve.tokenize.imported import ImportedTokenizer
from sieve.tokenize.sentence_piece import open_processor
from sieve.tokenize.tokenizer import Tokenizer, Tokenizers
from sieve.tokenize.vocabulary import Specials

_LISTS = (".yml", ".yaml", ".vocab", ".txt")
_SOURCE_NAMES = ("srcvocab", "source.", "src.", ".src", "vocab.src")
_TARGET_NAMES = ("trgvocab", "target.", "trg.", ".trg", "vocab.trg", "tgt.")


def vocabulary_files(source: Origin) -> list[Path]:
    """The vocabularies of both sides, and the SentencePiece models that lists of pieces need."""
    told = _told(source)
    spm = source.named(".spm")
    if not told:
        lists = source.named("vocab.yml", "vocab.yaml", ".vocab", "vocab.txt")
        told = _by_side(lists or spm, source)
    if not told or all(plain_name(path).endswith(".spm") for path in told):
        return told
    return [*told, *_by_side([path for path in spm if path not in told], source)]


def _told(source: Origin) -> list[Path]:
    """What the settings beside a model name, for example `decoder.yml`."""
    for path in source.named(".yml", ".yaml"):
        if "vocab" in path.name:
            continue
        try:
            names = flat_yaml(read_bytes(path).decode("utf-8", "replace"), str(path)).get("vocabs")
        except ModelError:
            continue  # not such settings
        if isinstance(names, list) and len(names) == 2:
            files = [source.file(Path(str(name)).name.removesuffix(".gz")) for name in names]
            if all(files):
                return [path for path in files if path]
    return []


def _by_side(paths: list[Path], source: Origin) -> list[Path]:
    """Origin and target of one or two files."""
    if len(paths) == 1:
        return [paths[0], paths[0]]
    names = [path.name for path in sorted(source.directory.iterdir())]
    languages = languages_in([*names, source.directory.resolve().name])
    for marks in ((_SOURCE_NAMES, _TARGET_NAMES), [(f".{code}.",) for code in languages if code]):
        sides = [
            next((path for path in paths if any(part in path.name for part in parts)), None)
            for parts in marks
        ]
        if len(paths) == len(set(filter(None, sides))) == 2:
            return [path for path in sides if path]
    if paths:
        told = ", ".join(path.name for path in paths)
        raise ModelError(
            f"{source.directory}: got the vocabularies {told}, expected one for both sides, or "
            "one with 'src' and one with 'trg' in its name, or each with its language"
        )
    return []


def read_vocabularies(source: Origin) -> Tokenizers:
    """The tokenizers of both sides of a Marian model."""
    files = vocabulary_files(source)
    if not files:
        raise ModelError(
            f"{source.directory}: has no vocabulary: expected a .spm file, or vocab.yml with "
            "source.spm and target.spm"
        )
    tokenizers: dict[tuple[Path, ...], Tokenizer] = {}
    sides = list(zip(*[iter(files)] * 2, strict=True))  # source and target of each kind
    keys = [tuple(pair[side] for pair in sides) for side in range(2)]
    for key in keys:
        if key not in tokenizers:
            tokenizers[key] = _tokenizer(key)
    return Tokenizers(tokenizers[keys[0]], tokenizers[keys[1]])


def _tokenizer(files: tuple[Path, ...]) -> Tokenizer:
    path = files[0]
    if plain_name(path).endswith(".spm"):
        model = read_bytes(path)
        processor = open_processor(model, str(path))
        eos, unk = processor.eos_id(), processor.unk_id()
        if eos < 0:
            raise ModelError(f"{path}: has no piece that ends a sentence (</s>)")
        return ImportedTokenizer(model, _specials(eos, unk), None, str(path))
    if plain_name(path).endswith(".fsv"):
        raise ModelError(f"{path}: Sieve cannot run factored vocabularies")
    if len(files) < 2:
        raise ModelError(
            f"{path}: a list of pieces, and the SentencePiece model that cuts text into them is "
            f"not beside it: expected .spm files (source.spm and target.spm) in {path.parent}"
        )
    pieces = _pieces(path)
    ids = {piece: index for index, piece in enumerate(pieces)}
    if not {"</s>", "<unk>"} <= ids.keys():
        raise ModelError(f"{path}: lacks the piece </s> or <unk>")
    specials = _specials(ids["</s>"], ids["<unk>"])
    return ImportedTokenizer(read_bytes(files[1]), specials, pieces, str(path))


def _specials(eos: int, unk: int) -> Specials:
    """Marian's: a translation starts from zeros, and batches are filled up with masked EOS."""
    return Specials(pad=None, start=None, eos=eos, unk=unk if unk >= 0 else None)


def _pieces(path: Path) -> list[str]:
    """The pieces of a list in the order of their ids."""
    try:
        text = read_bytes(path).decode("utf-8")
    except UnicodeDecodeError:
        raise ModelError(f"{path}: not UTF-8") from None
    if not plain_name(path).endswith((".yml", ".yaml")):
        lines = text.split("\n")
        return [line.split("\t")[0] for line in (lines[:-1] if not lines[-1] else lines)]
    ids: dict[str, int] = {}
    for piece, number in _pairs(text, path):
        if piece in ids or not number.isdecimal() or len(number) > 9:
            raise ModelError(f"{path}: piece {piece!r} has the id {number!r}, or is there twice")
        ids[piece] = int(number)
    if sorted(ids.values()) != list(range(len(ids))):
        raise ModelError(f"{path}: the ids of its {len(ids)} pieces are not 0 to {len(ids) - 1}")
    return sorted(ids, key=ids.__getitem__)


def _pairs(text: str, path: Path) -> Iterator[tuple[str, str]]:
    """Keys and values of a YAML mapping of scalars, from its events: nothing is constructed."""
    yaml: Any = require("yaml", "import", "reading vocabularies in YAML")
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    scalars: list[str] = []
    depth = 0
    try:
        for event in yaml.parse(text, Loader=loader):
            if isinstance(event, yaml.MappingStartEvent):
                depth += 1
            elif isinstance(event, yaml.ScalarEvent):
                scalars.append(event.value)
            if depth > 1 or isinstance(event, yaml.SequenceStartEvent | yaml.AliasEvent):
                raise ModelError(f"{path}: expected pieces and their ids, nothing nested")
    except yaml.YAMLError as error:
        problem = " ".join(str(error).split())[:200]
        raise ModelError(f"{path}: not readable YAML: {problem}") from None
    if depth != 1 or len(scalars) % 2:
        raise ModelError(f"{path}: expected pieces and their ids")
    yield from zip(scalars[::2], scalars[1::2], strict=True)
