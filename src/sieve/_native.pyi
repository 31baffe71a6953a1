from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Ragged = tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]
Result = tuple[
    int,
    int,
    tuple[float, float, float, float, int],
    list[tuple[tuple[int, ...], tuple[float, ...], tuple[int, ...], float]],
]

class ModelError(Exception): ...
class Encoded: ...

class Model:
    def __init__(
        self,
        config: Mapping[str, Any],
        tensors: Mapping[str, npt.NDArray[Any]],
        int8: bool,
        kernels: str = "",
    ) -> None: ...
    @property
    def kernels(self) -> str: ...
    def encode(self, source: Ragged, threads: int) -> Encoded: ...
    def pooled_logits(
        self, encoded: Encoded, threads: int, last_look: bool = False
    ) -> npt.NDArray[np.float32]: ...
    def states(self, encoded: Encoded) -> npt.NDArray[np.float32]: ...
    def positions(self, encoded: Encoded) -> Encoded: ...
    def translate(
        self,
        source: Ragged | Encoded,
        selection: Mapping[str, Any],
        search: Mapping[str, Any],
        threads: int,
    ) -> list[Result]: ...
    def score(
        self,
        source: Ragged | Encoded,
        selection: Mapping[str, Any],
        targets: Ragged,
        threads: int,
    ) -> list[Result]: ...

def available_kernels() -> list[str]: ...
def int8_product(
    x: npt.NDArray[np.float32],
    packed: npt.NDArray[np.uint8],
    kernels: str,
    multiplier: float = 0.0,
) -> npt.NDArray[np.float32]: ...
def columns_of(chosen: Sequence[int], added: Sequence[int], wanted: Sequence[int]) -> list[int]: ...
def read_seconds(bytes: int, repeats: int, kernels: str = "") -> float: ...
