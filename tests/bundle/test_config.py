"""The shape of a model: defaults of today's models, and what is refused."""

from typing import Any

import pytest

from sieve.bundle.config import ModelConfig, resolve
from sieve.bundle.weights import parameter_shapes
from sieve.config import from_dict, to_dict
from sieve.errors import ConfigError
from sieve.tokenize.vocabulary import OWN, Specials

SMALL: dict[str, Any] = {
    "src_vocab_size": 40, "tgt_vocab_size": 40, "d_model": 16, "d_ff": 24, "heads": 2,
    "encoder_layers": 1, "decoder_layers": 2,
}  # fmt: skip


def test_a_config_of_before_the_variants_means_what_it_meant() -> None:
    config = from_dict(ModelConfig, SMALL, "model")
    assert (config.norm, config.norm_epsilon, config.activation) == ("pre", 1e-5, "relu")
    assert (config.position_step, config.position_offset) == ("half", 0)
    assert config.embedding_scale
    assert config.source_eos
    assert config.specials == OWN == Specials(0, 1, 2, 3)
    assert config.never == config.source_prefix == config.forced_start == ()
    assert (config.alignment_layer, config.alignment_heads) == (-1, (0,))


def test_the_variants_survive_config_json() -> None:
    variant = ModelConfig(
        **SMALL, norm="post", activation="swish", position_step="half_minus_one", start=None,
        eos=0, pad=39, unk=1, never=(39, 1), forced_start=(7,), alignment_heads=(1, 0),
    )  # fmt: skip
    assert from_dict(ModelConfig, to_dict(variant), "model") == variant
    assert variant.specials == Specials(39, None, 0, 1)
    assert variant.specials.all == {39, 0, 1}


def test_post_norm_has_no_final_norms() -> None:
    pre, post = (set(parameter_shapes(ModelConfig(**SMALL, norm=kind))) for kind in ("pre", "post"))
    assert pre - post == {
        f"{part}.norm.{kind}" for part in ("encoder", "decoder") for kind in ("weight", "bias")
    }
    assert post < pre


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"eos": 40}, "model.eos: got 40, expected an id from 0 to 39"),
        ({"pad": -1}, "model.pad: got -1, expected an id from 0 to 39"),
        ({"never": (3, 99)}, "model.never: got 99, expected an id from 0 to 39"),
        ({"never": (2,)}, "model.never: got eos (2), without which translations cannot end"),
        (
            {"tie": "none", "src_vocab_size": 9, "eos": 9},
            "model.eos: got 9, expected an id of the source as well, below 9",
        ),
        ({"norm_epsilon": 0.0}, "model.norm_epsilon: got 0.0, expected above 0 and below 1"),
        (
            {"alignment_layer": 2},
            "model.alignment_layer: got 2, expected 0 to 1, or -1 for the last layer",
        ),
        (
            {"alignment_heads": (0, 2)},
            "model.alignment_heads: got [0, 2], expected different heads from 0 to 1, at least one",
        ),
        (
            {"position_offset": -2},
            "model.position_offset: got -2, expected 0 or more, less than 1048576",
        ),
        (
            {"d_model": 2, "position_step": "half_minus_one"},
            "model.d_model: got 2, expected at least 4 with position_step = half_minus_one",
        ),
    ],
)
def test_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as error:
        ModelConfig(**{**SMALL, **changes})
    assert str(error.value) == message


def test_unknown_activation_is_named() -> None:
    with pytest.raises(ConfigError, match="got 'tanh', expected one of relu, swish, gelu"):
        from_dict(ModelConfig, {**SMALL, "activation": "tanh"}, "model")


def test_preset() -> None:
    config = resolve("tiny", {"src_vocab_size": 50, "tgt_vocab_size": 50, "heads": 8})
    assert (config.d_model, config.d_ff, config.heads) == (256, 1024, 8)
    with pytest.raises(ConfigError, match="unknown preset 'tinny'; did you mean 'tiny'"):
        resolve("tinny", {})
