"""MarianMT models against transformers, which they are the origin of, and their odd settings."""

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from marian_files import CONFIG, LINES, opus_directory, opus_tensors
from safetensors.numpy import save_file

from sieve.bundle.config import PositionStep
from sieve.errors import ModelError
from sieve.importers.forward import Forward, sinusoids
from sieve.importers.hugging_face import HuggingFaceMarian
from sieve.importers.importing import import_model
from sieve.importers.origin import Origin
from sieve.importers.tensors import check_tensors, floats

transformers = pytest.importorskip("transformers")
torch = pytest.importorskip("torch")


def read(folder: Path) -> Any:
    return HuggingFaceMarian().read(Origin(folder))


@pytest.mark.parametrize("activation", ["swish", "relu", "quick_gelu"])
def test_log_probabilities_equal_those_of_transformers(activation: str, tmp_path: Path) -> None:
    folder = opus_directory(tmp_path, {"activation_function": activation})
    model = read(folder)
    check_tensors(model.tensors, model.config, "opus")
    forward = Forward(model.config, {name: floats(m) for name, m in model.tensors.items()})
    origin = transformers.MarianMTModel.from_pretrained(folder).eval()
    for line in LINES:
        source = [*model.tokenizers.source.encode([line])[0], model.config.eos]
        target = model.tokenizers.target.encode([line[::-1]])[0]
        with torch.no_grad():
            logits = origin(
                input_ids=torch.tensor([source]),
                decoder_input_ids=torch.tensor([[model.config.start, *target]]),
            ).logits[0]
        ends = [*target, model.config.eos]
        expected = logits.log_softmax(-1)[torch.arange(len(ends)), torch.tensor(ends)]
        np.testing.assert_allclose(
            forward.log_probs(source, target), expected.numpy(), atol=2e-5, rtol=0
        )


def test_tokens_equal_those_of_transformers(tmp_path: Path) -> None:
    folder = opus_directory(tmp_path, tags=(">>fra<<",))
    tokenizers = read(folder).tokenizers
    origin = transformers.MarianTokenizer.from_pretrained(folder)
    lines = [*LINES, "  the   cat ", "A ﬁt cat, “no”", ">>fra<< the cat"]
    for line in lines:
        ids = tokenizers.source.encode([line])[0]
        assert [*ids, 3] == origin(line)["input_ids"]
        target = origin(text_target=line)["input_ids"]
        assert tokenizers.target.encode([line])[0] == target[:-1]
    decoded = origin.decode(target, skip_special_tokens=True)
    assert tokenizers.target.decode([target]) == [decoded]


def test_settings(tmp_path: Path) -> None:
    config = read(opus_directory(tmp_path)).config
    last = config.tgt_vocab_size - 1
    assert (config.start, config.pad, config.eos, config.never) == (last, last, 3, (last,))
    assert (config.norm, config.norm_epsilon, config.position_step) == ("post", 1e-5, "half")
    assert config.unk == read(tmp_path).tokenizers.source.piece_id("<unk>")


def test_weights_of_torch_are_the_same_and_nothing_is_unpickled(tmp_path: Path) -> None:
    folder = opus_directory(tmp_path)
    model = read(folder)
    config = json.loads((folder / "config.json").read_text())
    state = {name: torch.from_numpy(array) for name, array in opus_tensors(config).items()}
    (folder / "model.safetensors").unlink()
    torch.save(state, folder / "pytorch_model.bin")
    again = read(folder)
    for name, matrix in model.tensors.items():
        np.testing.assert_array_equal(again.tensors[name], matrix)
    torch.save({"x": Hostile()}, folder / "pytorch_model.bin")
    hostile = r"pytorch_model\.bin: damaged, or holds more than tensors, .* a program: not read$"
    with pytest.raises(ModelError, match=hostile):
        read(folder)
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Hostile(), protocol=4))
    with pytest.raises(ModelError, match=hostile):
        read(folder)
    assert not Hostile.ran


class Hostile:
    """What runs code when it is unpickled."""

    ran = False

    def __reduce__(self) -> Any:
        return (setattr, (Hostile, "ran", True))


def test_positions_that_are_stored_say_which_they_are(tmp_path: Path) -> None:
    folder = opus_directory(tmp_path)
    config = json.loads((folder / "config.json").read_text())
    made = read(folder).config
    from dataclasses import replace

    steps: tuple[PositionStep, ...] = ("half", "half_minus_one")
    for step in steps:
        table = sinusoids(64, replace(made, position_step=step))
        names = {f"model.{side}.embed_positions.weight": table for side in ("encoder", "decoder")}
        save_file({**opus_tensors(config), **names}, folder / "model.safetensors")
        assert read(folder).config.position_step == step
    table = np.random.default_rng(1).standard_normal(table.shape).astype(np.float32)
    tensors = {**opus_tensors(config), "model.encoder.embed_positions.weight": table}
    save_file(tensors, folder / "model.safetensors")
    with pytest.raises(ModelError, match="cannot run positions other than sines and cosines"):
        read(folder)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"activation_function": "gelu"}, "activation_function is 'gelu': Sieve cannot run"),
        ({"normalize_before": True}, "layer norms before sublayers in a MarianMT model"),
        ({"normalize_embedding": True}, "layer norms behind embeddings"),
        ({"static_position_embeddings": False}, "trained position embeddings"),
        ({"decoder_attention_heads": 2}, "Sieve cannot run sides of different width"),
        ({"bad_words_ids": [[1, 2]]}, "cannot forbid sequences of several tokens"),
        ({"forced_bos_token_id": 5}, "forced_bos_token_id is 5"),
        ({"eos_token_id": [3, 4]}, r"eos_token_id is \[3, 4\], expected one id"),
        ({"eos_token_id": 10**9}, "got 1000000000, expected an id"),
        ({"new_gating": "sigmoid"}, "the option new_gating is 'sigmoid', which this importer"),
        ({"scale_embedding": 1}, "scale_embedding is 1, expected true or false"),
        ({"tie_word_embeddings": 0}, "tie_word_embeddings is 0, expected true or false"),
        ({"d_model": -1}, "d_model is -1, expected a number above 0"),
    ],
)
def test_what_sieve_lacks_is_named(changes: dict[str, Any], expected: str, tmp_path: Path) -> None:
    with pytest.raises(Exception, match=expected) as caught:
        read(opus_directory(tmp_path, changes))
    assert "\n" not in str(caught.value)


def test_settings_of_other_years(tmp_path: Path) -> None:
    """Models of 2020 have a key of BART's that transformers never reads for MarianMT."""
    plain = read(opus_directory(tmp_path / "plain")).config
    changes = {"extra_pos_embeddings": 53685, "_num_labels": 3, "num_beams": 6}
    assert read(opus_directory(tmp_path / "old", changes)).config == plain


def test_an_end_that_the_tokenizer_does_not_write(tmp_path: Path) -> None:
    folder = opus_directory(tmp_path, {"eos_token_id": 4})
    with pytest.raises(
        ModelError, match=r"eos_token_id is 4, which is '.*' in the vocabulary, expected '</s>'"
    ):
        read(folder)


def test_one_vocabulary_where_the_model_has_two(tmp_path: Path) -> None:
    """As a published model from English to Korean: its settings hide the source's vocabulary."""
    folder = opus_directory(tmp_path)
    pieces = json.loads((folder / "vocab.json").read_text())
    kept = ("</s>", "<unk>", "<pad>")
    others = {piece if piece in kept else f"한{n}": n for piece, n in pieces.items()}
    (folder / "vocab.json").write_text(json.dumps(others))
    with pytest.raises(ModelError, match=r"its source vocabulary has ids for \d% of the pieces"):
        import_model(Origin(folder), tmp_path / "model")


def test_files_that_do_not_fit(tmp_path: Path) -> None:
    folder = opus_directory(tmp_path)
    (folder / "source.spm").unlink()
    with pytest.raises(ModelError, match=r"source\.spm: no such file"):
        read(folder)
    folder = opus_directory(tmp_path)
    (folder / "vocab.json").write_text('{"a": 0, "b": 2}')
    with pytest.raises(ModelError, match="are not 0 to 1"):
        read(folder)
    (folder / "vocab.json").write_text('{"a": 0, "b": 1}')
    with pytest.raises(ModelError, match="lacks the piece '<unk>'"):
        read(folder)
    folder = opus_directory(tmp_path)
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="has no weights: expected"):
        read(folder)


def test_another_family_is_not_taken(tmp_path: Path) -> None:
    folder = opus_directory(tmp_path)
    (folder / "config.json").write_text(json.dumps({**CONFIG, "model_type": "m2m_100"}))
    assert HuggingFaceMarian().files(Origin(folder)) == []
