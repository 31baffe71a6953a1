"""Damaged models of every family: with a manifest refused or as before, else refused or alive."""

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

from damage import damage, limit_memory, outcome
from directories import write_model
from marian_files import SETTINGS, firefox_directory, opus_directory, parameters, write_npz

from sieve.bundle.integrity import CARD_FILE, MANIFEST_FILE, seal
from sieve.data.corpus_writer import write_corpus
from sieve.errors import SieveError
from sieve.importers.importing import ImportOptions, import_model
from sieve.importers.origin import Origin
from sieve.tokenize.tokenizer_training import TokenizerOptions, train_tokenizers

SEALED, BARE = ("int8", "float32"), ("int8-bare", "float32-bare")
"""Directories with a manifest, and without one: as of Sieve 0.1."""
WORDS = 40
"""Tokens of a foreign model."""
FOREIGN = ("firefox-en-pt", "marian-en-pt", "opus-en-fr")


def cases(first: int, scratch: Path) -> Iterator[str]:
    """See `torture.Cases`."""
    shutil.rmtree(scratch, ignore_errors=True)
    _write(scratch)
    outcome(scratch / "int8")  # everything is imported now
    limit_memory()
    forms = {
        **dict.fromkeys(SEALED, _sealed),
        **dict.fromkeys(BARE, _bare),
        **dict.fromkeys(FOREIGN, _foreign),
    }
    number = first
    while True:
        form = list(forms)[number % len(forms)]
        copy = scratch / "copy" / form
        shutil.rmtree(copy.parent, ignore_errors=True)
        shutil.copytree(scratch / form, copy)
        yield f"{form}, {forms[form](copy, number)}".replace(f"{form}, FAIL", f"FAIL {form}")
        number += 1


def _sealed(copy: Path, number: int) -> str:
    before = {path.name: path.read_bytes() for path in copy.iterdir()}
    what = damage(copy, number)
    after = {path.name: path.read_bytes() for path in copy.iterdir()}
    if outcome(copy) != "works":
        return "refused"
    # what is not translated with: a cut newline of the manifest changes nothing
    others = dict.fromkeys((CARD_FILE, MANIFEST_FILE), b"")
    same = {**before, **others} == {**after, **others}
    return "as before" if same or MANIFEST_FILE not in after else f"FAIL silent: {what}"


def _bare(copy: Path, number: int) -> str:
    damage(copy, number)
    return "alive" if outcome(copy) == "works" else "refused"


def _foreign(copy: Path, number: int) -> str:
    rng = random.Random(number)
    path = rng.choice(sorted(copy.iterdir()))
    raw = bytearray(path.read_bytes())
    for _ in range(rng.choice([1, 1, 2, 10, 100])):
        raw[rng.randrange(len(raw))] = rng.randrange(256)
    path.write_bytes(raw[: rng.choice([len(raw), len(raw), rng.randrange(len(raw) + 1)])])
    try:
        import_model(Origin(copy), copy.with_name("made"), ImportOptions(languages=("en", "pt")))
    except SieveError:
        return "refused"
    return "imported" if outcome(copy.with_name("made")) == "works" else "imported and refused"


def _write(scratch: Path) -> None:
    rng = random.Random(7)
    words = ["".join(rng.choices("bdfgklmnprst", k=2)) + c for c in "aeiou" for _ in range(8)]
    sources = [" ".join(rng.choices(words, k=rng.randint(1, 9))) for _ in range(340)]
    targets = [" ".join(word.upper() for word in reversed(s.split())) for s in sources]
    tokenizers = train_tokenizers(TokenizerOptions(vocab_size=400), sources, targets)
    scratch.mkdir(parents=True)
    write_corpus(scratch / "corpus", (sources, targets), tokenizers, ("xx", "yy"))
    for form in ("int8", "float32"):
        write_model(scratch / form, scratch / "corpus", int8=form == "int8")
        shutil.copytree(scratch / form, scratch / f"{form}-bare")
        seal(scratch / form)
    shutil.copytree(firefox_directory(scratch / "firefox-en-pt"), scratch / "marian-en-pt")
    next((scratch / "marian-en-pt").glob("model.*")).unlink()
    write_npz(scratch / "marian-en-pt" / "model.npz", SETTINGS, parameters(SETTINGS, WORDS))
    opus_directory(scratch / "opus-en-fr")
