"""The ids that mean the same in every vocabulary, whatever tokenizer made it."""

from typing import Any

import numpy as np
import numpy.typing as npt

PAD, BOS, EOS, UNK = 0, 1, 2, 3
SPECIAL_PIECES = ("<pad>", "<s>", "</s>", "<unk>")
"""Names of ids 0 to 3. No tokenizer ever produces them from text, UNK of Moses + BPE excepted."""

IntArray = npt.NDArray[np.integer[Any]]
