"""A head that is stored with a model selects the same in `generate` as in our engine."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from marian_files import LINES, opus_directory

from sieve.bundle.directory import open_bundle, write_bundle
from sieve.bundle.quantization import quantize
from sieve.bundle.weights import model_config
from sieve.config import to_dict
from sieve.engines.native.native_engine import NativeEngine
from sieve.errors import ModelError
from sieve.huggingface import select
from sieve.importers.importing import ImportOptions, import_model
from sieve.importers.origin import Origin
from sieve.selection.plan import LONG
from sieve.selection.selectors import NeuralSelection

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")


def with_head(imported: Path, output: Path, int8: bool) -> Path:
    """The same model with a random head and an operating point of its own."""
    bundle = open_bundle(imported)
    config = model_config(bundle)
    V, D = config.tgt_vocab_size, config.d_model
    rng = np.random.default_rng(5)
    tensors = {name: np.array(value) for name, value in bundle.tensors().items()}
    tensors["nvs.weight"] = rng.normal(size=(V, D)).astype(np.float32)
    tensors["nvs.bias"] = rng.normal(size=V).astype(np.float32)
    sections = {**bundle.sections(), "selection": {"threshold": 0.95, "least": 6, "fall": 0.1}}
    sections["model"] = {**to_dict(config), "nvs_head": "full"}
    if int8:
        tensors = quantize(tensors, "test")
        sections["weights"] = {"format": "int8", "layout": 1}
    write_bundle(output, sections, tensors, bundle.tokenizers())
    return output


@pytest.mark.parametrize("int8", [False, True])
def test_the_same_shortlists_as_the_native_engine(int8: bool, tmp_path: Path) -> None:
    folder = opus_directory(tmp_path / "opus")
    imported = tmp_path / "imported"
    import_model(Origin(folder), imported, ImportOptions(form="float32"))
    with pytest.raises(ModelError, match="no selection head; sieve attach makes one"):
        select(model_of(folder), imported)
    selected = with_head(imported, tmp_path / "selected", int8)
    bundle = open_bundle(selected)
    config = model_config(bundle)
    pieces = bundle.tokenizers().source.encode([*LINES, " ".join(LINES)])
    src_ids = [np.array([*ids, config.eos]) for ids in pieces]
    # the encoder of transformers is not rounded to int8: a logit or two cross the threshold
    engine = NativeEngine.open(bundle, "float32")
    votes = NeuralSelection(0.95, 6, fall=0.1).plan()
    expected = [len(shortlist) for shortlist in votes.select(engine.encode(src_ids))]
    assert max(map(len, src_ids)) > LONG
    model = model_of(folder)
    inputs = torch.full((len(src_ids), max(map(len, src_ids))), config.pad)
    for row, ids in zip(inputs, src_ids, strict=True):
        row[: len(ids)] = torch.from_numpy(ids)
    with select(model, selected) as selection:
        model.generate(input_ids=inputs, attention_mask=inputs != config.pad, max_new_tokens=2)
        assert selection.sizes == pytest.approx(expected, abs=2 if int8 else 0)
    assert len(set(expected)) > 1 and max(expected) < config.tgt_vocab_size


def model_of(folder: Path) -> Any:
    return transformers.MarianMTModel.from_pretrained(folder).eval()
