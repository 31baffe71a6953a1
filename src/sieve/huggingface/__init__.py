"""For those who come from transformers: `select` restricts its `generate`, `pipeline` replaces one.

`select` knows no importer and no engine of ours: transformers does the search. Importing this room
loads no torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sieve.errors import require

if TYPE_CHECKING:
    from sieve.huggingface.row_selection import RowSelection


def select(
    model: Any,
    head: str | Path | Mapping[str, Any],
    *,
    threshold: float | None = None,
    least: int | None = None,
) -> RowSelection:
    """Makes `model.generate` compute only the output rows that a selection head votes for.

    The rows are gathered once a batch; each sentence still chooses from its own shortlist. Scores
    keep their full width, −inf elsewhere: whatever looks a token up by its id works as before.

        with sieve.huggingface.select(model, "opus-en-fr-selected"):
            model.generate(**batch)

    Without `with`, the selection stays until `undo()` of what is returned.

    Args:
        model: A MarianMT, M2M100 or NLLB model of transformers.
        head: The directory that `sieve attach` made for the same model, or the tensors of a head,
            on disk `nvs.*`.
        threshold: λ, for sentences of any length; without it the directory's, else 0.9.
        least: Tokens that every shortlist holds; without it the directory's, else none.
    """
    require("torch", "huggingface", "selection in a model of transformers")
    require("transformers", "huggingface", "selection in a model of transformers")
    from sieve.huggingface.row_selection import RowSelection
    from sieve.huggingface.stored_head import open_head

    projection = RowSelection.projection(model)
    stored = open_head(head, projection)
    selection = stored.selection
    if threshold is not None:
        selection = replace(selection, threshold=threshold, fall=0.0)
    if least is not None:
        selection = replace(selection, least=least)
    return RowSelection(model, stored.head, selection)
