"""Marian's models, binary and .npz: every variant that occurs, every option that cannot be done."""

import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from marian_files import (
    ALPHA,
    LINES,
    SETTINGS,
    firefox_directory,
    marian_binary,
    packed,
    parameters,
    quantized,
    shortlist,
    spm_model,
    spm_pieces,
    write_npz,
)
from oracles import recorded

from sieve.bundle.quantization import Integers
from sieve.errors import ModelError
from sieve.importers.foreign_model import ForeignModel
from sieve.importers.forward import Forward
from sieve.importers.marian.flat_yaml import flat_yaml
from sieve.importers.marian.marian import MarianBinary, MarianNpz
from sieve.importers.marian.marian_binary import read_marian_binary
from sieve.importers.marian.marian_rounding import Multipliers, Product, fixed_input
from sieve.importers.marian.marian_shortlist import read_marian_shortlist
from sieve.importers.origin import Origin
from sieve.importers.tensors import check_tensors, floats

VARIANTS: dict[str, dict[str, Any]] = {
    **recorded.VARIANTS,
    **recorded.SCORED,
    "gelu": {"transformer-ffn-activation": "gelu"},
}


def npz_model(folder: Path, changes: dict[str, Any] | None = None) -> ForeignModel:
    """A model of these settings, written as .npz and read again."""
    return MarianNpz().read(Origin(npz_directory(folder, changes)))


def npz_directory(folder: Path, changes: dict[str, Any] | None = None) -> Path:
    settings = {**SETTINGS, **(changes or {})}
    model = spm_model()
    write_npz(folder / "model.npz", settings, parameters(settings, len(spm_pieces(model))))
    (folder / "vocab.spm").write_bytes(model)
    return folder


def scores(model: ForeignModel) -> np.ndarray[Any, Any]:
    """Log-probabilities of a line under itself."""
    forward = Forward(model.config, {name: floats(m) for name, m in model.tensors.items()})
    ids = model.tokenizers.source.encode(LINES[:1])[0]
    return forward.log_probs([*ids, model.config.eos], ids)


@pytest.mark.parametrize("name", VARIANTS)
def test_binary_and_npz_are_one_model(name: str, tmp_path: Path) -> None:
    settings = {**SETTINGS, **VARIANTS[name]}
    model = npz_model(tmp_path, VARIANTS[name])
    check_tensors(model.tensors, model.config, name)
    arrays = parameters(settings, model.config.tgt_vocab_size)
    (tmp_path / "float.bin").write_bytes(marian_binary(settings, arrays, int8=False))
    read = MarianBinary().read(Origin(tmp_path / "float.bin"))
    assert read.config == model.config
    assert {n: m.shape for n, m in read.tensors.items()} == {
        n: m.shape for n, m in model.tensors.items()
    }
    for tensor, matrix in model.tensors.items():
        np.testing.assert_array_equal(floats(read.tensors[tensor]), floats(matrix))
    (tmp_path / "int8.bin").write_bytes(marian_binary(settings, arrays))
    small = MarianBinary().read(Origin(tmp_path / "int8.bin"))
    np.testing.assert_allclose(scores(small), scores(model), atol=0.4)


def test_every_variant_is_another_model(tmp_path: Path) -> None:
    found = {}
    for name, changes in VARIANTS.items():
        (tmp_path / name).mkdir()
        found[name] = scores(npz_model(tmp_path / name, changes)).round(4).tobytes()
    assert len(set(found.values())) == len(VARIANTS)


def test_integers_and_their_scale_stay(tmp_path: Path) -> None:
    model = MarianBinary().read(Origin(firefox_directory(tmp_path)))
    arrays = parameters(SETTINGS, model.config.tgt_vocab_size)
    embedding = model.tensors["tgt_embedding.weight"]
    qkv = model.tensors["encoder.layers.1.attention.qkv.weight"]
    assert isinstance(embedding, Integers) and isinstance(qkv, Integers)
    integers, multiplier = quantized(arrays["Wemb"])
    np.testing.assert_array_equal(embedding.values, integers)
    np.testing.assert_allclose(embedding.scale, 1 / multiplier, rtol=1e-6)
    for part, name in enumerate("qkv"):
        integers, multiplier = quantized(arrays[f"encoder_l2_self_W{name}"])
        rows = slice(16 * part, 16 * (part + 1))
        np.testing.assert_array_equal(qkv.values[rows], integers.T)
        np.testing.assert_allclose(qkv.scale[rows], 1 / multiplier, rtol=1e-6)


def test_multipliers_of_activations_stay(tmp_path: Path) -> None:
    model = MarianBinary().read(Origin(firefox_directory(tmp_path)))
    fixed = {name.removesuffix(".input_multiplier") for name in model.tensors if "input_" in name}
    matrices = {n.removesuffix(".weight") for n, m in model.tensors.items() if len(m.shape) == 2}
    assert fixed == matrices
    for name in fixed:
        assert floats(model.tensors[f"{name}.input_multiplier"]) == pytest.approx([ALPHA], rel=1e-6)
    # all rows ones and one step: (127 + ALPHA) · Σ q / (ALPHA · W) − 127 · Σ q / (ALPHA · W) + b
    arrays = parameters(SETTINGS, model.config.tgt_vocab_size)
    integers, multiplier = quantized(arrays["encoder_l1_ffn_W1"])
    sums = integers.sum(axis=0, dtype=np.int64)
    name = "encoder.layers.0.feed_forward.hidden"
    scale = floats(model.tensors[f"{name}.product_scale"])
    bias = floats(model.tensors[f"{name}.product_bias"])
    expected = sums / multiplier + arrays["encoder_l1_ffn_b1"][0]
    np.testing.assert_allclose((127 + ALPHA) * sums * scale + bias, expected, atol=1e-4)


def test_layers_made_of_several_round_their_input_once() -> None:
    matrix = Integers(np.array([[1, -2], [3, 127]], np.int8), np.full(2, 0.5, np.float32))
    product = Product(matrix, Multipliers(4.0, 2.0), np.array([1.0, 2.0], np.float32))
    rounding = fixed_input([product, replace(product, bias=None)])
    assert rounding is not None
    assert (rounding.multiplier, rounding.scale.tolist()) == (4.0, [0.125] * 4)
    back = [15.875, -2063.75]  # the sums −1 and 130, times 127 / (4 · 2)
    assert rounding.bias.tolist() == pytest.approx([1 + back[0], 2 + back[1], *back], rel=1e-6)
    assert fixed_input([product, replace(product, multipliers=Multipliers(5.0, 2.0))]) is None


@pytest.mark.parametrize("alpha", [0.0, -1.0, float("nan"), float("inf")])
def test_a_multiplier_that_is_none_is_refused(alpha: float) -> None:
    items = [("a_QuantMultA", 0x0404, (1, 1), struct.pack("<f", alpha).ljust(256, b"\0"))]
    with pytest.raises(ModelError, match=r"a_QuantMultA has shape .* expected one number above 0"):
        read_marian_binary(packed(items), "here")


def test_the_settings_of_a_student(tmp_path: Path) -> None:
    config = MarianBinary().read(Origin(firefox_directory(tmp_path))).config
    assert (config.norm, config.position_step, config.start) == ("post", "half_minus_one", None)
    assert (config.eos, config.unk, config.never, config.pad) == (0, 1, (1,), None)
    assert (config.decoder_mixer, config.activation, config.nvs_head) == ("ssru", "relu", "none")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"type": "s2s"}, "type is 's2s': Sieve cannot run models that are not Transformers"),
        ({"transformer-pool": True}, "pooling instead of attention"),
        ({"transformer-tied-layers": [1, 1]}, "layers tied to each other"),
        ({"transformer-ffn-depth": 3}, "feed-forward sublayers that are not two layers deep"),
        ({"transformer-ffn-activation": "tanh"}, "activations but relu, swish, gelu"),
        (
            {"transformer-ffn-activation": "gelu", "version": "v1.12.3 2023-03-01"},
            r"version is 'v1\.12\.3 2023-03-01', whose gelu is exact \(erf\): Sieve cannot run",
        ),
        (
            {**recorded.PRE_NORM, "version": "v1.10.28 2021-12-01"},
            r"version is 'v1\.10\.28 2021-12-01': Sieve cannot run layer norms before",
        ),
        (
            {**recorded.PRE_NORM, "version": ""},
            "version is '': Sieve cannot run layer norms before",
        ),
        ({"transformer-train-position-embeddings": True}, "trained position embeddings"),
        ({"lemma-dim-emb": 64}, "factored vocabularies"),
        ({"right-left": True}, "models that translate from right to left"),
        ({"layer-normalization": True}, "layer norms inside recurrent cells"),
        ({"dec-cell": "gru"}, "dec-cell is 'gru': Sieve cannot run recurrent decoders but SSRU"),
        (
            {"transformer-decoder-autoreg": "average-attention"},
            "decoders with neither self-attention nor SSRU",
        ),
        ({"transformer-decoder-dim-ffn": 48}, "decoders of another width"),
        ({"transformer-preprocess": "n"}, "Sieve cannot run layer norms but"),
        ({"transformer-postprocess": "dhn"}, "Sieve cannot run layer norms but"),
        ({"transformer-postprocess-emb": "n"}, "layer norms behind embeddings"),
        ({"input-types": ["sequence", "class"]}, "inputs other than one source sentence"),
        ({"transformer-rms-norm": True}, "the option transformer-rms-norm is True, which this"),
        ({"enc-depth": "six"}, "enc-depth is 'six', expected a number above 0"),
        ({"dim-emb": 10**9}, "dim-emb is 1000000000, expected a number above 0"),
        ({"transformer-guided-alignment-layer": 9}, "alignment_layer: got 8"),
    ],
)
def test_what_sieve_lacks_is_named(changes: dict[str, Any], expected: str, tmp_path: Path) -> None:
    settings = {**SETTINGS, **changes}
    model = spm_model()
    arrays = parameters(SETTINGS, len(spm_pieces(model)))
    write_npz(tmp_path / "model.npz", settings, arrays)
    (tmp_path / "vocab.spm").write_bytes(model)
    with pytest.raises(Exception, match=expected) as caught:
        MarianNpz().read(Origin(tmp_path))
    assert "\n" not in str(caught.value)


def test_a_tensor_that_is_left_over_or_missing(tmp_path: Path) -> None:
    model = spm_model()
    arrays = parameters(SETTINGS, len(spm_pieces(model)))
    (tmp_path / "vocab.spm").write_bytes(model)
    write_npz(tmp_path / "model.npz", SETTINGS, {**arrays, "encoder_l1_gate": arrays["Wemb"]})
    with pytest.raises(ModelError, match=r"encoder_l1_gate \(1 such in all\), which Sieve has no"):
        MarianNpz().read(Origin(tmp_path))
    del arrays["encoder_l2_self_Wq"]
    write_npz(tmp_path / "model.npz", SETTINGS, arrays)
    with pytest.raises(ModelError, match="has no tensor encoder_l2_self_Wq"):
        MarianNpz().read(Origin(tmp_path))


def test_a_yaml_vocabulary_maps_the_pieces(tmp_path: Path) -> None:
    folder = npz_directory(tmp_path)
    spm = (folder / "vocab.spm").read_bytes()
    (folder / "vocab.spm").unlink()
    pieces = spm_pieces(spm)
    shuffled = [pieces[0], pieces[1], *reversed(pieces[2:])]
    lines = [f'"{piece}": {index}' for index, piece in enumerate(shuffled)]
    lines[5] = f'? "{shuffled[5]}"\n: 5'  # a key as YAML writes long ones
    (folder / "opus.vocab.yml").write_text("\n".join(lines), encoding="utf-8")
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes(spm)
    model = MarianNpz().read(Origin(folder))
    source = model.tokenizers.source
    assert [source.piece(index) for index in range(source.vocab_size)] == shuffled
    assert model.tokenizers.target.decode(source.encode(LINES)) == LINES
    assert model.config.eos == 0 and model.config.unk == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- a\n- b", "nothing nested"),
        ("a: {b: 1}", "nothing nested"),
        ("a: &x 1\nb: *x", "nothing nested"),
        ("a: 1\nb: 3", "are not 0 to 1"),
        ("a: 0\na: 1", "is there twice"),
        ("a: -1", "has the id '-1'"),
        ("a: 0\nb: !!python/object/apply:os.system [x]", "nothing nested"),
        ("a: 0\n\tb: 1", "not readable YAML"),
        ("a: 0\nb: 1", "lacks the piece </s> or <unk>"),
    ],
)
def test_damaged_vocabularies(text: str, expected: str, tmp_path: Path) -> None:
    folder = npz_directory(tmp_path)
    (folder / "vocab.yml").write_text(text)
    with pytest.raises(ModelError, match=expected):
        MarianNpz().read(Origin(folder))


def test_vocabularies_that_are_not_there(tmp_path: Path) -> None:
    folder = npz_directory(tmp_path)
    spm = (folder / "vocab.spm").read_bytes()
    (folder / "vocab.spm").unlink()
    with pytest.raises(ModelError, match=r"has no vocabulary: expected a \.spm file"):
        MarianNpz().read(Origin(folder))
    (folder / "vocab.yml").write_text("</s>: 0\n<unk>: 1")
    with pytest.raises(ModelError, match="SentencePiece model that cuts text into them is not"):
        MarianNpz().read(Origin(folder))
    (folder / "vocab.yml").unlink()
    for name in ("one.spm", "two.spm"):
        (folder / name).write_bytes(spm)
    with pytest.raises(ModelError, match=r"got the vocabularies one\.spm, two\.spm"):
        MarianNpz().read(Origin(folder))


def test_two_vocabularies_by_their_names(tmp_path: Path) -> None:
    settings = {**SETTINGS, "tied-embeddings-all": False, "tied-embeddings": True}
    source, target = spm_model(40), spm_model(30)
    arrays = parameters(settings, len(spm_pieces(source)))
    arrays["decoder_Wemb"] = arrays["decoder_Wemb"][: len(spm_pieces(target))]
    bias = arrays["decoder_ff_logit_out_b"]
    arrays["decoder_ff_logit_out_b"] = bias[:, : len(spm_pieces(target))]
    (tmp_path / "model.bin").write_bytes(marian_binary(settings, arrays))
    (tmp_path / "srcvocab.enja.spm").write_bytes(source)
    (tmp_path / "trgvocab.enja.spm").write_bytes(target)
    config = MarianBinary().read(Origin(tmp_path)).config
    assert config.src_vocab_size == len(spm_pieces(source))
    assert config.tgt_vocab_size == len(spm_pieces(target))
    assert config.tie == "output"


def test_a_shortlist_becomes_a_lexicon() -> None:
    rows = [[], [3], [2, 3, 9], [4]]
    lexicon = read_marian_shortlist(shortlist(rows, first=2, best=3), (4, 10), "lex")
    assert [lexicon.row(index)[0].tolist() for index in range(4)] == rows
    assert set(lexicon.top_k([2], 50).tolist()) >= {2, 3, 9}
    assert lexicon.target_counts.tolist() == [2, 1] + [0] * 8


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "not a binary shortlist"),
        (shortlist([[1]])[:-1], "damaged: 2 offsets and 1 ids"),
        (shortlist([[1], [1]]), "is of 2 source tokens, the model has 1"),
        (shortlist([[1]], first=11), "damaged: 11 frequent tokens of 10 target tokens"),
        (shortlist([[99]]), "got the id 99 of 10 target tokens"),
    ],
)
def test_damaged_shortlists(content: bytes, expected: str) -> None:
    with pytest.raises(ModelError, match=expected):
        read_marian_shortlist(content, (1, 10), "lex")


def test_a_setting_that_is_there_twice() -> None:
    with pytest.raises(ModelError, match="m: settings, line 2: got enc-depth twice"):
        flat_yaml("enc-depth: 6\nenc-depth: 2", "m")


def test_types_that_marian_has_and_sieve_lacks() -> None:
    from marian_files import packed

    items = [("Wemb", 0x4201, (2, 2), bytes(64)), ("special:model.yml", 0x0101, (1,), b"x\0")]
    with pytest.raises(ModelError, match="tensor Wemb is of Marian's type 0x4201, expected"):
        read_marian_binary(packed(items), "model.bin")
