"""The whole model: shapes, padding, heads, parameters."""

import dataclasses
import math
from typing import Any, Literal

import pytest
import torch

from sieve.bundle.config import HeadKind, Mixer, ModelConfig, resolve
from sieve.errors import ConfigError, ModelError
from sieve.model.nvs import FullHead, TiedHead, set_prior
from sieve.model.transformer import TranslationModel
from sieve.tokenize.vocabulary import BOS, EOS, PAD

SMALL = ModelConfig(
    src_vocab_size=40, tgt_vocab_size=40, encoder_layers=2, decoder_layers=2,
    d_model=16, d_ff=32, heads=2, dropout=0.1,
)  # fmt: skip
SRC = torch.tensor([[5, 6, 7, EOS], [8, EOS, PAD, PAD]])
TGT = torch.tensor([[BOS, 9, 10], [BOS, 11, PAD]])


def build(seed: int = 0, **changes: Any) -> TranslationModel:
    torch.manual_seed(seed)
    return TranslationModel(dataclasses.replace(SMALL, **changes)).eval()


@pytest.mark.parametrize("mixer", ["ssru", "attention"])
@pytest.mark.parametrize("tie", ["all", "output", "none"])
def test_shapes(mixer: Mixer, tie: Literal["all", "output", "none"]) -> None:
    model = build(decoder_mixer=mixer, tie=tie)
    out = model(SRC, TGT, with_alignment=True)
    assert out.memory.shape == (2, 4, 16)
    assert out.states.shape == (2, 3, 16)
    assert model.output(out.states).shape == (2, 3, 40)
    assert model.bow_logits(out.memory, out.src_mask).shape == (2, 40)
    torch.testing.assert_close(out.alignment.exp().sum(-1), torch.ones(2, 3))
    assert (out.alignment.exp()[1, :, 2:] == 0).all()  # no attention to padding


@pytest.mark.parametrize("mixer", ["ssru", "attention"])
def test_padding_changes_nothing(mixer: str) -> None:
    model = build(decoder_mixer=mixer)
    batched = model(SRC, TGT)
    alone = model(SRC[1:, :2], TGT[1:, :2])
    torch.testing.assert_close(batched.states[1:, :2], alone.states, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(
        model.bow_logits(batched.memory, batched.src_mask)[1:],
        model.bow_logits(alone.memory, alone.src_mask),
        rtol=1e-5,
        atol=1e-5,
    )


@pytest.mark.parametrize("mixer", ["ssru", "attention"])
def test_future_tokens_change_nothing(mixer: str) -> None:
    model = build(decoder_mixer=mixer)
    other = TGT.clone()
    other[:, 2] = 30
    torch.testing.assert_close(model(SRC, TGT).states[:, :2], model(SRC, other).states[:, :2])


def test_output_over_some_words_equals_those_columns() -> None:
    model = build()
    states, words = torch.randn(3, 16), torch.tensor([2, 7, 30])
    torch.testing.assert_close(model.output(states, words), model.output(states)[:, words])


@pytest.mark.parametrize("head", ["tied", "full"])
def test_selection_loss_stops_before_encoder_and_embedding(head: str) -> None:
    model = build(nvs_head=head)
    with torch.no_grad():
        for parameter in model.nvs_parameters():
            parameter.normal_()
    memory, mask = model.encode(SRC)
    torch.autograd.backward(model.bow_logits(memory, mask).square().sum())
    assert all(p.grad is None for p in model.translation_parameters())
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in model.nvs_parameters())


def test_selection_loss_flows_on_request() -> None:
    model = build(nvs_head="tied", nvs_detach=False)
    with torch.no_grad():
        for parameter in model.nvs_parameters():
            parameter.normal_()
    memory, mask = model.encode(SRC)
    torch.autograd.backward(model.bow_logits(memory, mask).square().sum())
    assert model.tgt_embedding.weight.grad is not None
    qkv = model.get_parameter("encoder.layers.0.attention.qkv.weight")
    assert qkv.grad is not None


@pytest.mark.parametrize("head", ["tied", "full"])
def test_head_equals_its_equation(head: str) -> None:
    model = build(nvs_head=head)
    assert isinstance(model.nvs, TiedHead if head == "tied" else FullHead)
    with torch.no_grad():
        for parameter in model.nvs_parameters():
            parameter.normal_()
    memory, mask = model.encode(SRC)
    h = memory[1, :2]  # the two real positions of the second sentence
    if isinstance(model.nvs, TiedHead):
        h = model.nvs.out(torch.relu(model.nvs.hidden(h)))
        expected = (h @ model.tgt_embedding.weight.T).amax(0) + model.nvs.bias
    else:
        expected = (h @ model.nvs.weight.T).amax(0) + model.nvs.bias
    torch.testing.assert_close(model.bow_logits(memory, mask)[1], expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("head", ["tied", "full"])
def test_adding_a_head_moves_no_other_random_number(head: HeadKind) -> None:
    bare, headed = build(5, nvs_head="none"), build(5, nvs_head=head)
    after = {}
    for name, model in (("bare", bare), ("headed", headed)):
        torch.manual_seed(9)
        after[name] = torch.rand(3)
        for parameter, other in zip(
            bare.translation_parameters(), model.translation_parameters(), strict=True
        ):
            assert torch.equal(parameter, other)
    torch.manual_seed(5)
    TranslationModel(dataclasses.replace(SMALL, nvs_head="none"))
    expected = torch.rand(3)
    torch.manual_seed(5)
    TranslationModel(dataclasses.replace(SMALL, nvs_head=head))
    assert torch.equal(torch.rand(3), expected)


def test_parameters_are_parted_completely() -> None:
    model = build()
    both = [*model.translation_parameters(), *model.nvs_parameters()]
    assert {id(p) for p in both} == {id(p) for p in model.parameters()}
    assert len({id(p) for p in both}) == len(both)


def test_prior_is_the_optimum_of_the_weighted_loss() -> None:
    model = build()
    frequency = torch.zeros(40, dtype=torch.long)
    frequency[EOS], frequency[9], frequency[10] = 99, 50, 1
    assert model.nvs is not None
    set_prior(model.nvs, frequency, 99, positive_weight=1000.0)
    bias = model.nvs.bias
    assert bias[9].item() == pytest.approx(math.log(1000 * 50 / 50))
    assert bias[10].item() == pytest.approx(math.log(1000 * 1 / 99), rel=1e-5)
    assert bias[EOS] > bias[9] > bias[10] > bias[11]
    assert bias[PAD] <= bias[11]
    memory, mask = model.encode(SRC)
    torch.testing.assert_close(model.bow_logits(memory, mask), bias.expand(2, 40))  # adapter is 0


def test_without_head_selection_is_refused() -> None:
    model = build(nvs_head="none")
    with pytest.raises(ModelError, match="no selection head"):
        model.bow_logits(*model.encode(SRC))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"d_model": 10, "heads": 4}, "multiple of model.heads"),
        ({"tie": "all", "src_vocab_size": 41}, "one vocabulary for both sides"),
        ({"dropout": 1.0}, "model.dropout"),
        ({"encoder_layers": 0}, "model.encoder_layers: got 0"),
        ({"tgt_vocab_size": 3, "src_vocab_size": 3}, "four special ids"),
        ({"decoder_mixer": "lstm"}, "expected one of ssru, attention"),
        ({"d_modell": 16}, "did you mean 'd_model'"),
    ],
)
def test_bad_settings(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        resolve("tiny", {"src_vocab_size": 40, "tgt_vocab_size": 40, **settings})


def test_unknown_preset() -> None:
    with pytest.raises(ConfigError, match="did you mean 'base'"):
        resolve("bass", {})
