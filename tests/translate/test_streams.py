"""Translators as a program meets them: lists, iterators, files, tasks, threads, processes."""

import asyncio
import pickle
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from child import printed
from directories import write_model

import sieve
from sieve.errors import ConfigError, InputError, SieveError
from sieve.translate.translation import Translation
from sieve.translate.translator import Translator

LINES = ["bda fga", "", "kla", "fga bda kla", "bda"] * 7


@pytest.fixture(scope="module")
def directory(toy_data: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("streams") / "xx-yy"
    write_model(path, toy_data.corpus, int8=True)
    return path


@pytest.fixture(scope="module")
def translator(directory: Path) -> Translator:
    return sieve.load(directory, threads=2)


def test_an_iterator_gives_what_a_list_gives(translator: Translator) -> None:
    expected = translator.translate(LINES, prefix="BDA", selection="none")
    found = translator.translate(iter(LINES), prefix="BDA", selection="none")
    assert list(found) == expected
    assert list(translator.translate(iter(()))) == []


def test_reads_on_only_as_it_is_read(translator: Translator) -> None:
    read: list[int] = []

    def lines() -> Iterator[str]:
        for number in range(10_000):
            read.append(number)
            yield "bda"

    found = translator.translate(lines())
    assert read == []
    next(found)
    assert read == [0]  # the first answer waits for nothing
    for _ in range(40):
        next(found)
    assert len(read) < 200


def test_files(translator: Translator, tmp_path: Path) -> None:
    source, target = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_bytes("\n".join(LINES).encode() + b"\r\nbda")  # the last without an end
    assert translator.translate_file(source, target, selection="none") == len(LINES) + 1
    expected = [
        " ".join(one.text.splitlines())  # whatever a model says, a line stays a line
        for one in translator.translate([*LINES, "bda"], selection="none")
    ]
    assert target.read_text().split("\n") == [*expected, ""]


def test_files_that_cannot_be(translator: Translator, tmp_path: Path) -> None:
    target = tmp_path / "out"
    with pytest.raises(InputError, match=r"nowhere: cannot be read: No such file"):
        translator.translate_file(tmp_path / "nowhere", target)
    (tmp_path / "latin").write_bytes(b"bda\n\xff\n")
    with pytest.raises(InputError, match=r"latin: not UTF-8 after line \d: invalid start byte"):
        translator.translate_file(tmp_path / "latin", target)
    assert [path.name for path in tmp_path.iterdir()] == ["latin"]  # nothing half-written


def test_tasks(translator: Translator) -> None:
    async def several() -> tuple[Translation, list[Translation]]:
        return await asyncio.gather(
            translator.atranslate("bda fga", selection="none"),
            translator.atranslate(LINES, selection="none"),
        )

    one, many = asyncio.run(several())
    assert one == translator.translate("bda fga", selection="none")
    assert many == translator.translate(LINES, selection="none")


def test_threads_share_a_translator(translator: Translator) -> None:
    expected = translator.translate(LINES, exclude=["BDA"])  # also fills a cache
    wrong: list[int] = []

    def work() -> None:
        for _ in range(5):
            if translator.translate(LINES, exclude=["BDA"]) != expected:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "text: got NoneType, expected a string or several"),
        (b"bda", "text: got bytes, expected a string or several"),
        (["bda", 7], "text 2: got int, expected a string"),
        (("bda", None), "text 2: got NoneType, expected a string"),
    ],
)
def test_what_is_no_text(translator: Translator, text: Any, message: str) -> None:
    with pytest.raises(SieveError) as error:
        translator.translate(text)
    assert str(error.value) == message


def test_iterators_take_one_prefix(translator: Translator) -> None:
    with pytest.raises(InputError, match="prefix: got a list with an iterator of texts"):
        translator.translate(iter(["bda"]), prefix=["x"])
    with pytest.raises(InputError, match="text: got list_iterator, expected a string or a list"):
        asyncio.run(translator.atranslate(iter(["bda"])))  # type: ignore[call-overload]


def test_pickling_is_refused(translator: Translator) -> None:
    with pytest.raises(ConfigError, match=r"cannot be pickled: call sieve\.load in each process"):
        pickle.dumps(translator)


def test_a_fork_goes_on_translating(directory: Path) -> None:
    code = """
import multiprocessing, sys, sieve
translator = sieve.load(sys.argv[1], threads=2)
expected = translator.translate(["bda fga", "kla"])
def work(_):
    return translator.translate(["bda fga", "kla"]) == expected
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(all(pool.map(work, range(6))))
"""
    assert printed(code, str(directory)) == "True"
