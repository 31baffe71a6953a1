"""Headers of arrays in Marian's archives: read by hand, never evaluated."""

from pathlib import Path

import numpy as np
import pytest
from packages import package

from sieve.errors import ModelError
from sieve.importers.marian.marian_binary import SETTINGS
from sieve.importers.marian.marian_npz import read_marian_npz

GOOD = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,2), }"  # as cnpy writes it


def archive(folder: Path, header: str) -> Path:
    settings = b"version: x\0".ljust(16)
    members = {
        "a.npy": array(header, np.array([1, 2], np.float32).tobytes()),
        f"{SETTINGS}.npy": array(GOOD.replace("<f4", "|i1").replace("1,2", "16,"), settings),
    }
    path = folder / "model.npz"
    path.write_bytes(package(members))
    return path


def array(header: str, content: bytes) -> bytes:
    return b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header.encode() + content


@pytest.mark.parametrize("header", [GOOD, GOOD.replace(", }", "}").replace(": ", ":") + "   \n"])
def test_a_good_header(header: str, tmp_path: Path) -> None:
    parameter = read_marian_npz(archive(tmp_path, header)).parameters["a"]
    assert isinstance(parameter, np.ndarray) and parameter.tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize(
    "header",
    [
        "",
        GOOD + "'",  # a string without end: an error of Python's tokenizer
        GOOD.replace("1,2", "1 2"),
        GOOD.replace("1,2", "-1,-2"),
        GOOD.replace("1,2", "9,9"),
        GOOD.replace("1,2", "1" * 50),
        GOOD.replace("False", "True"),
        GOOD.replace("'<f4'", "('<f4', (1,))"),
        GOOD.replace("<f4", "|O"),
        "(" * 9000,
    ],
)
def test_a_damaged_header(header: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"model\.npz") as raised:
        read_marian_npz(archive(tmp_path, header))
    assert str(raised.value).isprintable()
