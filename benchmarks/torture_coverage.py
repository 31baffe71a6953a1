"""Every reader of foreign bytes under a fuzzer that follows branches: importers and documents.

A reader has ten minutes, or SIEVE_FUZZ_SECONDS; as many run side by side as there are cores. What
is compressed or packed is packed around the fuzzed bytes, which would never get that far alone. A
copying translator stands behind the documents: what they read they also write.
"""

import contextlib
import importlib
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests" / "support")]
SECONDS = int(os.environ.get("SIEVE_FUZZ_SECONDS", "600"))
"""For each reader."""
HANG = 60
"""Seconds that one input may take."""
Read = Callable[[bytes, Path], object]
"""Reads bytes; the folder is for what wants a file."""


def _document(form: str, data: bytes, folder: Path) -> object:
    from sieve.documents import translate_bytes

    return translate_bytes(_copier(), data, format=form)


@cache
def _copier() -> Any:
    from echo import echo

    return echo(backwards=True, languages=("en", "de"))


def _packed(form: str, member: str, others: dict[str, str], data: bytes, folder: Path) -> object:
    from packages import package

    return _document(form, package({**others, member: data}), folder)


def _office(form: str, member: str, kind: str) -> Read:
    base = "application/vnd.openxmlformats-officedocument"
    name = f'<Override PartName="/{member}" ContentType="{base}.{kind}.main+xml"/>'
    return partial(_packed, form, member, {"[Content_Types].xml": f"<Types>{name}</Types>"})


def _open(form: str, kind: str) -> Read:
    others = {"mimetype": f"application/vnd.oasis.opendocument.{kind}"}
    return partial(_packed, form, "content.xml", others)


def _tensors(data: bytes, folder: Path) -> object:
    import numpy as np

    from sieve.files.tensor_files import parse_tensors

    return parse_tensors(np.frombuffer(data, np.uint8), Path("fuzzed"))


def _marian_binary(data: bytes, folder: Path) -> object:
    from sieve.importers.marian.marian_binary import read_marian_binary

    return read_marian_binary(data, "fuzzed")


def _marian_npz(data: bytes, folder: Path) -> object:
    from packages import package

    from sieve.importers.marian.marian_npz import read_marian_npz

    path = folder / "model.npz"
    path.write_bytes(package({"encoder_Wemb.npy": data, "special:model.yml.npy": data}))
    return read_marian_npz(path)


def _marian_shortlist(data: bytes, folder: Path) -> object:
    from sieve.importers.marian.marian_shortlist import read_marian_shortlist

    return read_marian_shortlist(data, (40, 40), "fuzzed")


def _yaml_settings(data: bytes, folder: Path) -> object:
    from sieve.importers.marian.flat_yaml import flat_yaml

    return flat_yaml(data.decode("utf-8", "replace"), "fuzzed")


def _hugging_face(member: str, data: bytes, folder: Path) -> object:
    from sieve.importers.importing import ImportOptions, import_model
    from sieve.importers.origin import Origin

    source = _opus(folder)
    before = (source / member).read_bytes()
    (source / member).write_bytes(data)
    try:
        import_model(Origin(source), folder / "made", ImportOptions(languages=("en", "fr")))
    finally:
        (source / member).write_bytes(before)
    return None


@cache
def _opus(folder: Path) -> Path:
    from marian_files import opus_directory

    return opus_directory(folder / "opus")


def _config(data: bytes, folder: Path) -> object:
    from sieve.bundle.directory import open_bundle

    (folder / "model").mkdir(exist_ok=True)
    (folder / "model" / "config.json").write_bytes(data)
    return open_bundle(folder / "model")


TEXT = ("html", "markdown", "text", "wrapped", "srt", "vtt", "po", "xliff", "json", "yaml",
        "properties", "android", "strings", "stringsdict", "resx", "csv", "tsv", "pdf")  # fmt: skip
READERS: dict[str, Read] = {
    "tensors": _tensors,
    "config": _config,
    "marian-binary": _marian_binary,
    "marian-npz": _marian_npz,
    "marian-shortlist": _marian_shortlist,
    "marian-settings": _yaml_settings,
    "opus-config": partial(_hugging_face, "config.json"),
    "opus-vocabulary": partial(_hugging_face, "vocab.json"),
    "opus-pieces": partial(_hugging_face, "source.spm"),
    "opus-weights": partial(_hugging_face, "model.safetensors"),
    **{form: partial(_document, form) for form in TEXT},
    "docx": _office("docx", "word/document.xml", "wordprocessingml.document"),
    "pptx": _office("pptx", "ppt/slides/slide1.xml", "presentationml.slide"),
    "xlsx": _office("xlsx", "xl/sharedStrings.xml", "spreadsheetml.sharedStrings"),
    "odt": _open("odt", "text"),
    "odp": _open("odp", "presentation"),
    "ods": _open("ods", "spreadsheet"),
    "epub": partial(
        _packed,
        "epub",
        "OPS/a.opf",
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container><rootfile full-path="OPS/a.opf"/></container>',
        },
    ),
    "any archive": partial(_document, "docx"),
}


def seeds() -> dict[str, bytes]:
    """A small good input for readers that a fuzzer would not find the way into."""
    from marian_files import SETTINGS, marian_binary, parameters, shortlist, spm_model, spm_pieces
    from packages import runs, word

    pieces = spm_model()
    words = len(spm_pieces(pieces))
    paragraph = f"<w:p>{runs('Good ', 'b:morning')}</w:p>"
    return {
        "marian-binary": marian_binary(SETTINGS, parameters(SETTINGS, words)),
        "marian-shortlist": shortlist([[], [], *([n, n + 1] for n in range(2, words - 1))]),
        "opus-pieces": pieces,
        "any archive": word(paragraph),
        "docx": f'<w:document xmlns:w="w"><w:body>{paragraph}</w:body></w:document>'.encode(),
        "html": b"<p>Good <b>morning</b>, <a href='x'>all</a>!</p>",
        "markdown": b"# Good *morning*\n\n- [all](x) `of` you\n",
        "srt": b"1\n00:00:01,000 --> 00:00:02,000\nGood <i>morning</i>\n",
        "vtt": b"WEBVTT\n\n00:01.000 --> 00:02.000\nGood morning\n",
        "po": b'msgid ""\nmsgstr "Plural-Forms: nplurals=2;"\n\nmsgid "a"\nmsgid_plural "b"\n'
        b'msgstr[0] ""\nmsgstr[1] ""\n',
        "xliff": b'<xliff version="1.2"><file source-language="en"><body><trans-unit id="1">'
        b"<source>Good <g id='1'>morning</g></source></trans-unit></body></file></xliff>",
        "json": b'{"a": "Good morning", "b": ["{n, plural, one {# day} other {# days}}"]}',
        "yaml": b"en:\n  a: Good morning\n  b: |\n    two\n    lines\n",
        "properties": b"a=Good \\\n  morning\nb=It''s {0}\n",
        "android": b"<resources><string name='a'>Good <b>morning</b></string></resources>",
        "strings": b'/* x */ "a" = "Good \\"morning\\"";\n',
        "resx": b"<root><data name='a' xml:space='preserve'><value>Good</value></data></root>",
        "csv": b'a,b\n1,"Good, ""morning"""\n',
        "odt": b"<office:document-content xmlns:office='o' xmlns:text='t'><text:p>Good "
        b"<text:span>morning</text:span></text:p></office:document-content>",
        "xlsx": b"<sst><si><t>Good morning</t></si></sst>",
    }


def coverage(first: int, scratch: Path) -> Iterator[str]:
    """See `torture.Cases`: a case for each reader."""
    if importlib.util.find_spec("atheris") is None:
        yield "skipped: atheris is not installed (pip install atheris)"
        return
    names = list(READERS)[first:]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        yield from pool.map(partial(_fuzzed, scratch=scratch), names)


def _fuzzed(name: str, scratch: Path) -> str:
    folder = (scratch / name).resolve()
    (folder / "corpus").mkdir(parents=True, exist_ok=True)
    if name in (good := seeds()):
        (folder / "corpus" / "good").write_bytes(good[name])
    options = [f"-max_total_time={SECONDS}", f"-timeout={HANG}", "-rss_limit_mb=4096"]
    command = [sys.executable, __file__, name, str(folder / "corpus"), *options]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, errors="replace", check=False
    )
    runs = re.search(r"Done (\d+) runs in (\d+) second", done.stderr)
    if done.returncode or runs is None:
        return f"FAIL {name}: {done.stderr[-280:]!r}"
    return f"{name}, {int(runs[1])} inputs in {int(runs[2])} s"


def _fuzz(name: str) -> None:
    atheris = importlib.import_module("atheris")
    from sieve.errors import SieveError

    with atheris.instrument_imports(include=["sieve.documents", "sieve.importers", "sieve.files"]):
        for module in ("sieve.files.tensor_files", "sieve.importers.importing", "sieve.documents"):
            importlib.import_module(module)
    read, folder = READERS[name], Path.cwd()

    def once(data: bytes) -> None:
        with contextlib.suppress(SieveError):
            read(data, folder)

    atheris.Setup([sys.argv[0], *sys.argv[2:]], once)
    atheris.Fuzz()


if __name__ == "__main__":
    _fuzz(sys.argv[1])
