"""From a source to a model directory: recognise, read, check, measure, write whole."""

import hashlib
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

import sieve
from sieve.bundle.config import ModelConfig
from sieve.bundle.directory import LEXICON_FILE, write_bundle
from sieve.bundle.fixed_inputs import is_fixed_input
from sieve.bundle.integrity import CARD_FILE
from sieve.bundle.quantization import LAYOUT, Integers, quantize
from sieve.config import to_dict
from sieve.errors import ConfigError, ModelError
from sieve.files import read_json, regular_file
from sieve.importers.alignment.attention_choice import AttentionChoice, aligned, choose_alignment
from sieve.importers.alignment.sample_lines import SampleLines, sample_lines
from sieve.importers.families import importer_of
from sieve.importers.foreign_model import ForeignModel
from sieve.importers.multilingual import with_target
from sieve.importers.origin import MOST_BYTES, Origin, languages_in, read_bytes
from sieve.importers.tensors import check_tensors, floats
from sieve.importers.vocabulary_check import check_reach, check_vocabularies
from sieve.log import logger

UNSTATED = "not stated: see where the model comes from"
_LICENCE = re.compile(r"^license:\s*['\"]?([\w.+ -]{2,60})", re.MULTILINE)
_LONGEST_TITLE = 60
"""Characters of a licence's name; longer lines are text."""
_LANGUAGE = re.compile(r"[a-z]{2,3}([_-][A-Za-z]{2,8})*|")


@dataclass(frozen=True)
class ImportOptions:
    """What whoever imports a model says of it."""

    family: str | None = None
    """None: recognised from the content."""
    languages: tuple[str, str] | None = None
    """None: from names and metadata."""
    form: Literal["int8", "float32"] | None = None
    """Of the weights; None: as they are."""
    licence: str | None = None
    """None: what the source says."""
    sample: tuple[str, ...] = ()
    """Sentences of the source language that alignment is measured with."""

    def __post_init__(self) -> None:
        if not all(map(_LANGUAGE.fullmatch, self.languages or ())):
            raise ConfigError(f"languages: got {self.languages}, expected two codes such as en pt")


@dataclass(frozen=True)
class Imported:
    """What was written."""

    directory: Path
    family: str
    languages: tuple[str, str]
    form: str
    alignment: AttentionChoice | None
    sample: str
    """What alignment was measured with."""
    lexicon: bool


def import_model(source: Origin, output: Path, options: ImportOptions | None = None) -> Imported:
    """Writes a model directory of a model of another toolkit.

    Args:
        source: Where the model lies.
        output: The directory to make; an older one is replaced once the new one is whole.
        options: What is known beside the files.
    """
    options = options or ImportOptions()
    importer = importer_of(source, options.family)
    files = importer.files(source)
    hashes = file_hashes(files)
    model = importer.read(source)
    check_tensors(model.tensors, model.config, str(files[0]))
    check_reach(model, str(files[0]))
    check_vocabularies(model, str(files[0]))
    languages = options.languages or _languages(source, files)
    if not languages[0] or not (languages[1] or model.tokenizers.source.tags):
        logger.warning("%s: its languages are not known; give --languages", source.title)
    model = with_target(model, languages[1], source.title)
    given = SampleLines(options.sample, "given") if options.sample else None
    sample = given or sample_lines(languages[0])
    chosen = _alignment(model, sample.lines, str(files[0]))
    config = aligned(model.config, chosen)
    origin = {
        "family": importer.family,
        "source": source.title,
        "files": hashes,
        "licence": options.licence or _licence(source),
        "imported_with": f"sieve {sieve.__version__}",
    }
    if chosen is not None:
        origin["alignment"] = {**to_dict(chosen), "sample": sample.kind}
    form = options.form or _form(model)
    sections = {"model": to_dict(config), "languages": list(languages), "origin": origin}
    if form == "int8":
        sections["weights"] = {"format": "int8", "layout": LAYOUT}
    tensors = _stored(model, form, str(files[0]))
    with tempfile.TemporaryDirectory() as scratch:
        copies = _companions(Path(scratch), model, _card(source, languages, origin, config))
        write_bundle(output, sections, tensors, model.tokenizers, copies)
    return Imported(
        output, importer.family, languages, form, chosen, sample.kind, model.lexicon is not None
    )


def file_hashes(files: Sequence[Path]) -> dict[str, str]:
    """SHA-256 of each file by its name."""
    hashes = {}
    for path in dict.fromkeys(files):
        with regular_file(path, MOST_BYTES) as (file, _):
            digest = hashlib.sha256()
            while part := file.read(2**20):
                digest.update(part)
        hashes[path.name] = digest.hexdigest()
    return hashes


def _alignment(model: ForeignModel, sentences: Sequence[str], where: str) -> AttentionChoice | None:
    tensors = {name: floats(matrix) for name, matrix in model.tensors.items()}
    try:
        with np.errstate(over="raise", invalid="raise"):
            return choose_alignment(model.config, tensors, model.tokenizers, sentences)
    except (ModelError, FloatingPointError) as error:  # finite weights, too large to compute with
        raise ModelError(f"{where}: its first translations fail: {error}") from None


def _form(model: ForeignModel) -> str:
    """int8 where the origin has integers, else float32."""
    return "int8" if any(isinstance(m, Integers) for m in model.tensors.values()) else "float32"


def _stored(model: ForeignModel, form: str, where: str) -> dict[str, npt.NDArray[Any]]:
    if form == "int8":
        return quantize(model.tensors, where, multiply=True)
    return {
        name: floats(matrix) for name, matrix in model.tensors.items() if not is_fixed_input(name)
    }


def _companions(scratch: Path, model: ForeignModel, card: str) -> list[Path]:
    """Card and lexicon as files."""
    paths = [scratch / CARD_FILE]
    paths[0].write_text(card, encoding="utf-8")
    if model.lexicon is not None:
        model.lexicon.save(scratch)
        paths.append(scratch / LEXICON_FILE)
    return paths


def _languages(source: Origin, files: Sequence[Path]) -> tuple[str, str]:
    """What the metadata says, then what names say."""
    told = source.directory / "tokenizer_config.json"
    if told.is_file():
        settings = read_json(told)
        pair = (str(settings.get("source_lang") or ""), str(settings.get("target_lang") or ""))
        known = [code if _LANGUAGE.fullmatch(code) else "" for code in pair]
        if any(known):  # a group of them, such as ROMANCE, is none
            return known[0], known[1]
    names = [path.name for path in files]
    return languages_in([*names, source.name, source.directory.resolve().name])


def _licence(source: Origin) -> str:
    """What the README's front matter or the first line of a file LICENSE says."""
    readme = source.file("README.md")
    if readme is not None:
        match = _LICENCE.search(read_bytes(readme)[:20_000].decode("utf-8", "replace"))
        if match:
            return match[1].strip()
    text = source.file("LICENSE")
    lines = read_bytes(text)[:200].decode("utf-8", "replace").split("\n") if text else [""]
    title = lines[0].strip()
    return title if 2 < len(title) <= _LONGEST_TITLE else UNSTATED


def _card(
    source: Origin, languages: tuple[str, str], origin: dict[str, Any], config: ModelConfig
) -> str:
    """The model card of an import."""
    pair = f"{languages[0]} to {languages[1]}" if all(languages) else "languages not known"
    lines = [
        f"# {source.title}: {pair}",
        "",
        "A model of another toolkit, imported. Whoever made it holds the rights to it.",
        "",
        f"- Family: {origin['family']}",
        f"- Licence: {origin['licence']}",
        f"- Imported with: {origin['imported_with']}",
        f"- Shape: {config.encoder_layers} + {config.decoder_layers} layers, width "
        f"{config.d_model}/{config.d_ff}, {config.tgt_vocab_size} tokens",
        "",
        "Files it was made from (SHA-256):",
        "",
        *(f"- `{name}`: `{digest}`" for name, digest in origin["files"].items()),
    ]
    return "\n".join(lines) + "\n"
