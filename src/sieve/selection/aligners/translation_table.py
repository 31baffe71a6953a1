"""Translation probabilities p(t | s) of many token pairs: what aligners and lexicons share."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class TranslationTable:
    """For each source token its target tokens and their probabilities."""

    offsets: npt.NDArray[np.int64]
    """(V_src + 1,): source token s has entries offsets[s] to offsets[s + 1]."""
    targets: npt.NDArray[np.int32]
    probabilities: npt.NDArray[np.float32]
