import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import SafetensorError
from safetensors.numpy import load_file

from sieve.errors import ModelError
from sieve.files import Folder, map_tensors, read_tensors, write_tensors


def test_tensors_round_trip(tmp_path: Path) -> None:
    tensors: dict[str, npt.NDArray[Any]] = {
        "a": np.arange(6, dtype=np.float16).reshape(2, 3).T,
        "b": np.array([], np.int8),
    }
    write_tensors(tmp_path / "t", tensors)
    back = read_tensors(tmp_path / "t")
    assert back.keys() == tensors.keys()
    for name, array in tensors.items():
        assert back[name].dtype == array.dtype
        np.testing.assert_array_equal(back[name], array)


dtypes = st.sampled_from(
    [np.float64, np.float32, np.float16, np.int64, np.int8, np.uint8, np.bool_]
)
shapes = st.lists(st.integers(0, 20), max_size=3)


@given(entries=st.dictionaries(st.text(max_size=5), st.tuples(dtypes, shapes), max_size=6))
def test_tensors_are_aligned_and_any_reader_opens_them(
    tmp_path_factory: pytest.TempPathFactory, entries: dict[str, tuple[Any, list[int]]]
) -> None:
    path = tmp_path_factory.mktemp("aligned") / "t"
    entries.pop("__metadata__", None)
    tensors = {n: (np.arange(np.prod(s)) % 7).astype(d).reshape(s) for n, (d, s) in entries.items()}
    write_tensors(path, tensors, {"note": "Grüße"})
    assert Folder(path.parent).tensors("t").metadata == {"note": "Grüße"}
    assert (8 + int.from_bytes(path.read_bytes()[:8], "little")) % 64 == 0
    for read in (load_file, read_tensors, map_tensors):
        found = read(path)
        assert found.keys() == tensors.keys()
        for name, array in tensors.items():
            assert found[name].dtype == array.dtype and found[name].shape == array.shape
            assert np.array_equal(found[name], array)
    for array in (*map_tensors(path).values(), *read_tensors(path).values()):
        assert array.flags.aligned
        assert array.nbytes % 64 or array.ctypes.data % 64 == 0


def test_bytes_of_the_other_order_are_turned(tmp_path: Path) -> None:
    write_tensors(tmp_path / "t", {"a": np.arange(5, dtype=">i4"), "b": np.array(1.5, ">f8")})
    found = load_file(tmp_path / "t")
    assert found["a"].tolist() == [0, 1, 2, 3, 4]
    assert found["b"].shape == () and found["b"] == 1.5


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_damaged_files_are_one_clear_error(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    write_tensors(folder / "t", {"a": np.ones((3, 4), np.float32), "b": np.zeros(5, np.int8)})
    content = bytearray((folder / "t").read_bytes())
    for _ in range(data.draw(st.integers(0, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    (folder / "t").write_bytes(content[: data.draw(st.integers(0, len(content)))])
    for read in (read_tensors, map_tensors):
        try:
            read(folder / "t")
        except ModelError as error:
            assert str(folder / "t") in str(error)


def test_missing_tensors_file(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no such file"):
        read_tensors(tmp_path / "none")


def header_file(path: Path, header: Any, body: bytes) -> Path:
    text = (header if isinstance(header, str) else json.dumps(header)).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + body)
    return path


def entry(dtype: str, shape: Any, start: Any, stop: Any) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, stop]}


@pytest.mark.parametrize(
    "header, reason",
    [
        ({"a": entry("U8", [4], 0, 4)}, "its tensors take 4 bytes of 8"),
        ({"a": entry("U8", [4], 4, 8)}, "tensor a lies at 4 to 8, expected from 0 on"),
        (
            {"a": entry("U8", [8], 0, 8), "b": entry("U8", [8], 0, 8)},
            "tensor b lies at 0 to 8, expected from 8 on",
        ),
        ({"a": entry("F32", [3], 0, 8)}, "tensor a has 8 bytes, which do not fit its shape"),
        ({"a": entry("F32", [-2], 0, 8)}, r"got \[-2\] for numbers of its header"),
        ({"a": entry("F32", [True, 2], 0, 8)}, r"got \[True, 2\] for numbers"),
        ({"a": entry("F32", [2], 0.0, 8)}, r"got \[0.0, 8\] for numbers"),
        ({"a": entry("F9", [8], 0, 8)}, "has the dtype F9, which is not known here"),
        ('{"a": 1, "a": 2}', "its header has a name twice"),
        ({"a": {"dtype": "U8", "shape": [8]}}, "'data_offsets'"),
        ([], "not a readable safetensors file"),
        ("{", "not a readable safetensors file"),
    ],
)
def test_what_a_header_may_not_say(tmp_path: Path, header: Any, reason: str) -> None:
    path = header_file(tmp_path / "t", header, bytes(8))
    for read in (read_tensors, map_tensors):
        with pytest.raises(ModelError, match=reason):
            read(path)
    with pytest.raises((SafetensorError, KeyError, TypeError)):  # a peer's opinion
        load_file(path)


def test_bfloat16_is_read_as_float32(tmp_path: Path) -> None:
    words = np.array([0x3F80, 0xC020, 0x0000, 0x7F80], "<u2")  # 1, -2.5, 0, infinity
    path = header_file(tmp_path / "t", {"a": entry("BF16", [2, 2], 0, 8)}, words.tobytes())
    for read in (read_tensors, map_tensors):
        array = read(path)["a"]
        assert array.dtype == np.float32 and array.tolist() == [[1.0, -2.5], [0.0, float("inf")]]


def test_what_is_read_is_private_and_what_is_mapped_is_not_writable(tmp_path: Path) -> None:
    write_tensors(tmp_path / "t", {"a": np.arange(1000)})
    private, mapped = (read(tmp_path / "t")["a"] for read in (read_tensors, map_tensors))
    (tmp_path / "t").write_bytes(b"")
    assert private.tolist() == list(range(1000))
    assert not mapped.flags.writeable
