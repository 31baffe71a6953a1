"""Tiny random models of other toolkits' kinds, from their own classes: the same states and words.

MarianMT: post-norm, swish or ReLU, the start is the padding's id, a bias on logits, ids that are
never generated. M2M100: pre-norm, other positions, a forced first token.
"""

import dataclasses
import warnings
from typing import Any

import numpy as np
import pytest
import torch

from sieve.bundle.config import ModelConfig
from sieve.bundle.weights import parameter_shapes
from sieve.engines.options import SearchOptions
from sieve.engines.torch.captured import captures
from sieve.engines.torch.torch_engine import TorchEngine
from sieve.model.checkpoint import load_tensors
from sieve.model.transformer import TranslationModel
from sieve.selection.plan import Plan
from sieve.selection.selectors import FullVocabulary
from sieve.selection.shortlist import Shortlist
from sieve.tokenize.vocabulary import IntArray

transformers = pytest.importorskip(
    "transformers", reason="transformers is not installed: nothing to compare with"
)
V, D, MOST = 60, 32, 12
MARIAN = ModelConfig(
    V, V, encoder_layers=2, decoder_layers=2, d_model=D, d_ff=48, heads=4, nvs_head="none",
    decoder_mixer="attention", norm="post", activation="swish", start=V - 1, pad=V - 1, eos=0,
    unk=1, never=(V - 1,),
)  # fmt: skip
M2M = dataclasses.replace(
    MARIAN, norm="pre", activation="relu", position_step="half_minus_one", position_offset=2,
    start=2, pad=1, eos=2, unk=3, never=(), forced_start=(50,),
)  # fmt: skip


class Few:
    """Thirty-one words for every sentence."""

    def plan(self) -> Plan:
        return Plan(lists=(lambda src_ids: [range(9, 40)] * len(src_ids),))


def theirs(config: ModelConfig) -> Any:
    """A random model of their classes."""
    torch.manual_seed(3)
    settings = {
        "vocab_size": V, "d_model": D, "encoder_layers": 2, "decoder_layers": 2,
        "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "encoder_attention_heads": 4,
        "decoder_attention_heads": 4, "dropout": 0.0, "attention_dropout": 0.0,
        "activation_dropout": 0.0, "scale_embedding": True, "max_position_embeddings": 64,
        "activation_function": config.activation, "pad_token_id": config.pad,
        "eos_token_id": config.eos, "bos_token_id": config.eos, "init_std": 0.2,
        "decoder_start_token_id": config.start, "forced_eos_token_id": None,
    }  # fmt: skip
    if config.norm == "pre":
        layerdrop = {"encoder_layerdrop": 0.0, "decoder_layerdrop": 0.0}
        made = transformers.M2M100Config(**settings, **layerdrop)
        model = transformers.M2M100ForConditionalGeneration(made).eval()
    else:
        model = transformers.MarianMTModel(transformers.MarianConfig(**settings)).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "layer_norm" in name:
                parameter.add_(0.3 * torch.randn_like(parameter))
            elif "layers" in name:
                parameter.mul_(2.0)  # what was said last does not decide alone
        if config.norm == "post":
            model.final_logits_bias.normal_(std=0.5)
            model.final_logits_bias[0, config.eos] = 2.2  # some translations end
            model.final_logits_bias[0, config.pad] = 9.0  # never generated all the same
        else:
            model.model.shared.weight[config.eos] += 0.8 * model.model.decoder.layer_norm.bias
    return model


def ours(config: ModelConfig, model: Any) -> TranslationModel:
    """Our model with their weights."""
    state = model.state_dict()
    tensors = {"tgt_embedding.weight": state["model.shared.weight"].numpy()}
    bias = state.get("final_logits_bias", torch.zeros(1, V))
    tensors["output.bias"] = bias[0].numpy()
    names = {"self_attn_layer_norm": "{}_norm", "encoder_attn_layer_norm": "cross_norm",
             "self_attn.out_proj": "{}.out", "encoder_attn.q_proj": "cross.query",
             "encoder_attn.out_proj": "cross.out", "fc1": "feed_forward.hidden",
             "fc2": "feed_forward.out", "final_layer_norm": "feed_forward_norm"}  # fmt: skip
    for side, first in (("encoder", "attention"), ("decoder", "mixer")):
        for kind in ("weight", "bias"):
            if config.norm == "pre":
                tensors[f"{side}.norm.{kind}"] = state[f"model.{side}.layer_norm.{kind}"].numpy()
            for n in range(2):
                here, there = f"{side}.layers.{n}", f"model.{side}.layers.{n}"
                for name, mine in names.items():
                    if f"{there}.{name}.{kind}" in state:
                        value = state[f"{there}.{name}.{kind}"].numpy()
                        tensors[f"{here}.{mine.format(first)}.{kind}"] = value
                rows = [state[f"{there}.self_attn.{part}_proj.{kind}"] for part in "qkv"]
                tensors[f"{here}.{first}.qkv.{kind}"] = torch.cat(rows).numpy()
                if side == "decoder":
                    rows = [state[f"{there}.encoder_attn.{part}_proj.{kind}"] for part in "kv"]
                    tensors[f"{here}.cross.key_value.{kind}"] = torch.cat(rows).numpy()
    assert {name: array.shape for name, array in tensors.items()} == parameter_shapes(config)
    made = TranslationModel(config).eval()
    load_tensors(made, tensors, "theirs")
    return made


def sentences(config: ModelConfig, number: int = 10) -> list[IntArray]:
    rng = np.random.default_rng(5)
    return [
        config.specials.source_ids(rng.integers(4, V - 2, rng.integers(1, 9)))
        for _ in range(number)
    ]


def batch(config: ModelConfig, source: list[IntArray]) -> torch.Tensor:
    ids = torch.full((len(source), max(map(len, source))), config.specials.fill)
    for row, sentence in zip(ids, source, strict=True):
        row[: len(sentence)] = torch.from_numpy(sentence)
    return ids


KINDS = {
    "marian": MARIAN,
    "marian relu": dataclasses.replace(MARIAN, activation="relu"),
    "m2m": M2M,
}


@pytest.mark.parametrize("config", KINDS.values(), ids=KINDS)
@torch.no_grad()
def test_states_and_forced_log_probabilities(config: ModelConfig) -> None:
    other = theirs(config)
    mine, source = ours(config, other), sentences(config)
    ids = batch(config, source)
    assert config.pad is not None
    real = ids.ne(config.pad)
    memory, mask = mine.encode(ids)
    expected = other.model.encoder(ids, attention_mask=real).last_hidden_state
    assert torch.equal(mask, real)
    torch.testing.assert_close(memory[real], expected[real], rtol=1e-5, atol=1e-5)
    targets = [[7 + row, 30, 4, 41 - row][: row % 4 + 1] for row in range(len(source))]
    found = TorchEngine(mine).score(source, targets, FullVocabulary())
    for row, (sentence, target) in enumerate(zip(source, targets, strict=True)):
        read = torch.tensor([[config.start, *target]])
        logits = other(torch.from_numpy(sentence)[None], decoder_input_ids=read).logits[0]
        say = torch.tensor([*target, config.eos])
        log_probs = logits.log_softmax(-1).gather(1, say[:, None])[:, 0].tolist()
        assert found[row].token_scores == pytest.approx(log_probs, abs=1e-5)


class Short(SearchOptions):
    """A maximum length that does not depend on the source, as theirs."""

    def max_length(self, src_length: int) -> int:
        return MOST


def penalty(config: ModelConfig) -> float:
    """They count a forced token as certain, we as likely as it is: with lengths that would show."""
    return 0.0 if config.forced_start else 1.0


def generated(config: ModelConfig, other: Any, ids: torch.Tensor, beam: int) -> list[list[int]]:
    """Their ids, from the first that is generated to EOS."""
    settings: dict[str, Any] = {"forced_bos_token_id": None}
    if config.forced_start:
        settings["forced_bos_token_id"] = config.forced_start[0]
    if config.never:
        settings["bad_words_ids"] = [[index] for index in config.never]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = other.generate(
            input_ids=ids, attention_mask=ids != config.pad, num_beams=beam, max_new_tokens=MOST,
            do_sample=False, length_penalty=penalty(config),
            early_stopping="never" if beam > 1 else False,
            **settings,
        )  # fmt: skip
    rows = [row.tolist()[1:] for row in out]
    return [row[: row.index(config.eos) + 1] if config.eos in row else row for row in rows]


@pytest.mark.parametrize("config", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("beam", [1, 4])
@torch.no_grad()
def test_same_words(config: ModelConfig, beam: int) -> None:
    other = theirs(config)
    mine, source = ours(config, other), sentences(config)
    expected = generated(config, other, batch(config, source), beam)
    options = Short(beam, 1, penalty(config), stop="exact")
    for engine in (TorchEngine(mine), TorchEngine(mine, graphs=True)):
        found = engine.translate(source, FullVocabulary(), options)
        got = [[*one.tokens, *[config.eos] * one.finished] for (one,) in found]
        assert got == expected
    assert any(config.eos in row for row in expected)
    assert not {index for row in expected for index in row} & {*config.never}
    guess = dataclasses.replace(options, lossless=True)
    lossless = TorchEngine(mine).translate(source, Few(), guess)
    full = TorchEngine(mine).translate(source, FullVocabulary(), options)
    assert [one.tokens for (one,) in lossless] == [one.tokens for (one,) in full]


@torch.no_grad()
def test_shortlists_end_in_the_models_own_eos() -> None:
    config = MARIAN
    mine, source = ours(config, theirs(config)), sentences(config)
    engine = TorchEngine(mine)
    for (one,) in engine.translate(source, Few(), Short(3)):
        assert set(one.tokens) <= set(range(9, 40))
        assert one.shortlist_size == 32
    shortlists = [Shortlist.of([V - 1, 7], config.eos)] * len(source)
    for (one,) in engine.decode(engine.encode(source), shortlists, Short(2)):
        assert set(one.tokens) <= {7}


@torch.no_grad()
def test_alignment_of_a_layer_and_heads_by_measurement() -> None:
    """The mean of two heads of the lower layer, as their own attentions give it."""
    config = dataclasses.replace(MARIAN, alignment_layer=0, alignment_heads=(1, 3))
    other = theirs(config)
    mine, source = ours(config, other), sentences(config)
    other.set_attn_implementation("eager")
    found = TorchEngine(mine).translate(
        source, FullVocabulary(), dataclasses.replace(Short(3), alignment=True)
    )
    for sentence, (one,) in zip(source, found, strict=True):
        read = torch.tensor([[config.start, *one.tokens]])
        out = other(
            torch.from_numpy(sentence)[None], decoder_input_ids=read, output_attentions=True
        )
        weights = out.cross_attentions[0][0, [1, 3]].mean(0)  # (U, T)
        assert list(one.positions) == weights.argmax(-1).tolist()[: len(one.tokens)]
        forced = mine(torch.from_numpy(sentence)[None], read, with_alignment=True)
        torch.testing.assert_close(forced.alignment[0].exp(), weights, rtol=1e-4, atol=1e-5)


def test_only_models_like_our_own_are_captured() -> None:
    own = ModelConfig(V, V, d_model=D, heads=4)
    assert captures(own)
    other = dataclasses.replace(own, eos=0, pad=5, unk=7, position_offset=2, norm_epsilon=1e-6)
    assert captures(other)
    odd: tuple[dict[str, Any], ...] = (
        {"norm": "post"}, {"activation": "swish"}, {"embedding_scale": False}, {"start": None},
        {"pad": None}, {"never": (9,)}, {"forced_start": (9,)},
    )  # fmt: skip
    for changes in odd:
        assert not captures(dataclasses.replace(own, **changes))


@torch.no_grad()
def test_a_start_of_zeros_and_no_padding_id() -> None:
    """As Marian itself: a vector of zeros plus its position; nothing that could be padding."""
    changes = {"start": None, "pad": None, "unk": 1, "never": (1,), "decoder_mixer": "ssru"}
    for mixer in ("ssru", "attention"):
        config = dataclasses.replace(MARIAN, **{**changes, "decoder_mixer": mixer})  # type: ignore[arg-type]
        torch.manual_seed(2)
        mine = TranslationModel(config).eval()
        for parameter in mine.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
        engine, source = TorchEngine(mine), sentences(config)
        found = [row[0] for row in engine.translate(source, FullVocabulary(), Short(1))]
        scores = engine.score(source, [one.tokens for one in found], FullVocabulary())
        for one, sentence, forced in zip(found, source, scores, strict=True):
            steps = len(one.token_scores)
            assert one.token_scores == pytest.approx(forced.token_scores[:steps], abs=1e-5)
            (alone,) = engine.translate([sentence], FullVocabulary(), Short(1))
            assert alone[0].tokens == one.tokens
            assert 1 not in one.tokens
        # the id at the start's place is not read
        memory, mask = mine.encode(torch.from_numpy(source[0])[None])
        first, other = (mine.decode(torch.tensor([[n, 9, 8]]), memory, mask) for n in (0, 17))
        assert torch.equal(first, other)
