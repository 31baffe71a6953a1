"""The class that Ray Data's `map_batches` runs over a dataset of a user's own. Needs no Ray."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sieve.bulk.cells import CellTranslator, ModelUse
from sieve.bulk.rows.row_pieces import RESULTS
from sieve.config import unknown
from sieve.errors import ConfigError, InputError
from sieve.translate.translation import Request


class Translate:
    """Translates columns of a dataset: a callable class for `ray.data.Dataset.map_batches`.

    For each column NAME of texts the result has NAME_translation, NAME_score, NAME_shortlist_size,
    NAME_confidence and NAME_error. A value that cannot be translated has an error in its row and no
    translation; the rows beside it are not touched. None stays None.

    Examples:
        >>> from sieve.ray import Translate
        >>> translate = Translate("en-de", columns=["text"])
        >>> batch = translate({"id": [1, 2], "text": ["Good morning!", 7]})
        >>> batch["text_translation"].tolist(), batch["text_error"].tolist()
        (['Guten Morgen!', None], [None, 'got int, expected a string'])

    On a cluster, with an actor of two threads for every two cores:

        dataset.map_batches(
            Translate,
            fn_constructor_args=("en-de",),
            fn_constructor_kwargs={"columns": ["text"], "threads": 2},
            num_cpus=2,
            batch_size=2048,
            batch_format="pyarrow",
            compute=ray.data.ActorPoolStrategy(min_size=1, max_size=64),
        )
    """

    def __init__(
        self,
        model: str,
        columns: str | Sequence[str] = "text",
        *,
        threads: int = 1,
        request: Request | None = None,
        selection: str | None = None,
        prefix: str = "",
        **engine: Any,
    ) -> None:
        """Opens the model.

        Args:
            model: As `sieve.load` takes it; every node must have it.
            columns: Names of the columns with texts.
            threads: As `num_cpus` of the actor.
            request: What to ask for: selection, search, words, repairs.
            selection: Short for a request with this selection.
            prefix: What every translation must begin with.
            engine: Further arguments of `sieve.load`: engine, device, precision, verify.
        """
        self._columns = [columns] if isinstance(columns, str) else list(columns)
        if request is not None and selection is not None:
            raise ConfigError("got a request and a selection, expected one of them")
        wish = request or Request(selection)
        use = ModelUse(model, wish, prefix, {"threads": threads, **engine})
        self._translator = CellTranslator(use)

    def __call__(self, batch: Any) -> Any:
        """A batch with its results: a dictionary of columns, a pyarrow table or a pandas frame."""
        names = list(getattr(batch, "column_names", batch))
        results: dict[str, list[Any]] = {}
        for column in self._columns:
            if column not in names:
                raise InputError(unknown("column", column, names))
            cells, _ = self._translator.translate(_values(batch[column]))
            for place, result in enumerate(RESULTS):
                results[f"{column}_{result}"] = [cell.values[place] for cell in cells]
        return _with(batch, results)


def _values(column: Any) -> list[Any]:
    """The values of a column as Python's own; what is missing is None."""
    for name in ("to_pylist", "tolist"):
        if hasattr(column, name):
            column = getattr(column, name)()
            break
    return [None if _is_missing(value) else value for value in column]


def _is_missing(value: Any) -> bool:
    """None, and what pandas has for it."""
    is_nan = isinstance(value, float) and math.isnan(value)
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")


def _with(batch: Any, results: dict[str, list[Any]]) -> Any:
    if hasattr(batch, "append_column"):
        import pyarrow

        kinds = dict(zip(RESULTS, _kinds(pyarrow), strict=True))
        for name, values in results.items():
            kind = next(kinds[result] for result in RESULTS if name.endswith(f"_{result}"))
            batch = batch.append_column(name, pyarrow.array(values, kind))
        return batch
    if hasattr(batch, "assign"):
        return batch.assign(**results)
    import numpy as np

    return {**batch, **{name: np.array(values, object) for name, values in results.items()}}


def _kinds(pyarrow: Any) -> tuple[Any, ...]:
    text, number = pyarrow.string(), pyarrow.float64()
    return text, number, pyarrow.int64(), number, text
