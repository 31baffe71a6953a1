import numpy as np
import numpy.typing as npt

def dot_int8(a: npt.NDArray[np.int8], b: npt.NDArray[np.int8]) -> int: ...
