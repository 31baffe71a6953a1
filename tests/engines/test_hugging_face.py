"""The same weights in Hugging Face's M2M100 classes give the same tokens and scores."""

import warnings
from typing import Any, Literal

import numpy as np
import pytest
import torch
from torch import nn

from sieve.bundle.config import ModelConfig
from sieve.engines.options import SearchOptions
from sieve.engines.torch.torch_engine import TorchEngine
from sieve.model.layers import sinusoids
from sieve.model.transformer import TranslationModel
from sieve.selection.selectors import FullVocabulary
from sieve.tokenize.vocabulary import BOS, EOS, PAD, IntArray

transformers = pytest.importorskip(
    "transformers", reason="transformers is not installed: nothing to compare with"
)
V, MOST = 60, 14


def build() -> TranslationModel:
    torch.manual_seed(4)
    config = ModelConfig(
        V, V, encoder_layers=2, decoder_layers=2, d_model=32, d_ff=64, heads=4,
        decoder_mixer="attention", nvs_head="none",
    )  # fmt: skip
    model = TranslationModel(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name != "output.bias":  # theirs has none
                parameter.add_(0.2 * torch.randn_like(parameter))
        bias = model.get_parameter("decoder.norm.bias")
        model.tgt_embedding.weight[EOS] += 1.2 * bias  # some ends come early
    return model


def theirs(model: TranslationModel) -> Any:
    """Their model with our weights."""
    c = model.config
    config = transformers.M2M100Config(
        vocab_size=V, d_model=c.d_model, encoder_layers=c.encoder_layers,
        decoder_layers=c.decoder_layers, encoder_ffn_dim=c.d_ff, decoder_ffn_dim=c.d_ff,
        encoder_attention_heads=c.heads, decoder_attention_heads=c.heads,
        activation_function="relu", dropout=0.0, attention_dropout=0.0, activation_dropout=0.0,
        encoder_layerdrop=0.0, decoder_layerdrop=0.0, scale_embedding=True,
        max_position_embeddings=64, pad_token_id=PAD, bos_token_id=BOS, eos_token_id=EOS,
        decoder_start_token_id=BOS, forced_eos_token_id=None,
    )  # fmt: skip
    other = transformers.M2M100ForConditionalGeneration(config).eval()
    with torch.no_grad():
        other.model.shared.weight.copy_(model.tgt_embedding.weight)
        other.tie_weights()
        for side, mine in (
            (other.model.encoder, model.encoder),
            (other.model.decoder, model.decoder),
        ):
            positions = sinusoids(
                0, len(side.embed_positions.weights) - 1, c.d_model, torch.device("cpu")
            )
            side.embed_positions.weights[1:] = positions
            copy(side.layer_norm, mine.norm)
            for layer, my_layer in zip(side.layers, mine.layers, strict=True):
                copy_layer(layer, my_layer)
    return other


def copy(target: nn.Module, source: nn.Module) -> None:
    target.load_state_dict(source.state_dict())


def copy_rows(targets: list[Any], source: nn.Linear) -> None:
    for target, weight, bias in zip(
        targets,
        source.weight.chunk(len(targets)),
        source.bias.chunk(len(targets)),
        strict=True,
    ):
        target.weight.copy_(weight)
        target.bias.copy_(bias)


def copy_layer(layer: Any, mine: Any) -> None:
    attention = mine.attention if hasattr(mine, "attention") else mine.mixer
    norm = mine.attention_norm if hasattr(mine, "attention") else mine.mixer_norm
    its = layer.self_attn
    copy_rows([its.q_proj, its.k_proj, its.v_proj], attention.qkv)
    copy(its.out_proj, attention.out)
    copy(layer.self_attn_layer_norm, norm)
    if hasattr(mine, "cross"):
        its = layer.encoder_attn
        copy(its.q_proj, mine.cross.query)
        copy_rows([its.k_proj, its.v_proj], mine.cross.key_value)
        copy(its.out_proj, mine.cross.out)
        copy(layer.encoder_attn_layer_norm, mine.cross_norm)
    copy(layer.fc1, mine.feed_forward.hidden)
    copy(layer.fc2, mine.feed_forward.out)
    copy(layer.final_layer_norm, mine.feed_forward_norm)


class Short(SearchOptions):
    """A maximum length that does not depend on the source, as theirs."""

    def max_length(self, src_length: int) -> int:
        return MOST


def cut(tokens: list[int]) -> list[int]:
    return tokens[: tokens.index(EOS) + 1] if EOS in tokens else tokens


def sentences(number: int) -> list[IntArray]:
    rng = np.random.default_rng(9)
    return [np.array([*rng.integers(4, V, rng.integers(2, 12)), EOS]) for _ in range(number)]


@pytest.mark.parametrize(
    ("beam_size", "length_penalty"), [(1, 1.0), (3, 1.0), (5, 1.0), (5, 0.6), (4, 0.0)]
)
@pytest.mark.parametrize("stop", ["exact", "first"])
def test_same_tokens_and_scores(
    beam_size: int, length_penalty: float, stop: Literal["exact", "first"]
) -> None:
    model = build()
    other, source = theirs(model), sentences(12)
    ids = torch.full((12, max(map(len, source))), PAD)
    for row, sentence in zip(ids, source, strict=True):
        row[: len(sentence)] = torch.from_numpy(sentence)
    n_best = min(2, beam_size)
    options = Short(beam_size, n_best, length_penalty, stop=stop)
    early = True if stop == "first" else "never"
    found = TorchEngine(model).translate(source, FullVocabulary(), options)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        out = other.generate(
            input_ids=ids, attention_mask=ids != PAD, num_beams=beam_size,
            num_return_sequences=n_best, max_new_tokens=MOST, do_sample=False,
            length_penalty=length_penalty, early_stopping=early if beam_size > 1 else False,
            return_dict_in_generate=True, output_scores=True, eos_token_id=EOS, pad_token_id=PAD,
            decoder_start_token_id=BOS,
        )  # fmt: skip
        mine = [one for hypotheses in found for one in hypotheses]
        expected = [cut(row.tolist()[1:]) for row in out.sequences]
        assert [[*h.tokens, *[EOS] * h.finished] for h in mine] == expected
        if beam_size > 1:
            scores = out.sequences_scores.tolist()
            assert [h.normalized_score(length_penalty) for h in mine] == pytest.approx(
                scores, abs=1e-4
            )
        else:
            steps = other.compute_transition_scores(
                out.sequences, out.scores, normalize_logits=True
            )
            for one, row in zip(mine, steps, strict=True):
                assert one.token_scores == pytest.approx(
                    row[: len(one.token_scores)].tolist(), abs=1e-4
                )
    assert any(h.finished for h in mine)
