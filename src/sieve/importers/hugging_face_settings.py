"""What a MarianMT config.json says of a model, every key checked: a `ModelConfig`, or refused.

Equals what transformers does with it: norms after the sublayers with torch's epsilon, whatever the
keys of other models say. Knows neither files nor tensors.
"""

from collections.abc import Mapping
from typing import Any

from sieve.bundle.config import ModelConfig
from sieve.errors import ModelError

NORM_EPSILON = 1e-5
"""torch's own, which the port uses; Marian's is smaller."""
_ABLE: dict[str, tuple[tuple[Any, ...], str]] = {
    "is_encoder_decoder": ((True,), "models that are not encoder and decoder"),
    "is_decoder": ((False,), "decoders alone"),
    "normalize_before": ((False,), "layer norms before sublayers in a MarianMT model"),
    "normalize_embedding": ((False,), "layer norms behind embeddings"),
    "add_final_layer_norm": ((False,), "a final layer norm in a MarianMT model"),
    "static_position_embeddings": ((True,), "trained position embeddings"),
    "add_bias_logits": ((False,), "another output bias"),
    "chunk_size_feed_forward": ((0,), "chunked feed-forward sublayers"),
}
_YES_OR_NO = ("scale_embedding", "tie_word_embeddings", "share_encoder_decoder_embeddings")
_ACTIVATIONS = {"relu": "relu", "swish": "swish", "silu": "swish", "quick_gelu": "gelu"}
_READ = {
    *("model_type", "d_model", "encoder_layers", "decoder_layers", "vocab_size"),
    *("encoder_attention_heads", "decoder_attention_heads", "encoder_ffn_dim", "decoder_ffn_dim"),
    *("activation_function", "scale_embedding", "share_encoder_decoder_embeddings"),
    *("tie_word_embeddings", "decoder_vocab_size", "eos_token_id", "pad_token_id"),
    *("decoder_start_token_id", "bad_words_ids", "forced_bos_token_id", "suppress_tokens"),
    "begin_suppress_tokens",
}
_WITHOUT_EFFECT = {
    *("_name_or_path", "_num_labels", "architectures", "transformers_version", "torch_dtype"),
    *("dtype", "init_std", "id2label", "label2id", "num_hidden_layers", "use_cache", "dropout"),
    *("attention_dropout", "activation_dropout", "classif_dropout", "classifier_dropout"),
    *("encoder_layerdrop", "decoder_layerdrop", "gradient_checkpointing", "bos_token_id"),
    *("forced_eos_token_id", "max_length", "max_position_embeddings", "num_beams", "return_dict"),
    *("output_attentions", "output_hidden_states", "problem_type", "renormalize_logits"),
    *("length_penalty", "early_stopping", "temperature", "top_k", "top_p", "typical_p"),
    *("repetition_penalty", "num_return_sequences", "num_beam_groups", "task_specific_params"),
    *("tokenizer_class", "language", "license", "_commit_hash", "torchscript", "max_new_tokens"),
    *("_attn_implementation_autoset", "exponential_decay_length_penalty", "diversity_penalty"),
    *("is_composition", "force_bos_token_to_be_generated", "do_blenderbot_90_layernorm"),
    *("_from_model_config", "use_return_dict", "epsilon_cutoff", "eta_cutoff"),
    "extra_pos_embeddings",  # of BART; models of 2020 have their vocabulary's size here
}


def hugging_face_config(
    settings: Mapping[str, Any],
    generation: Mapping[str, Any],
    sizes: tuple[int, int],
    unk: int,
    where: str,
) -> ModelConfig:
    """The configuration of a MarianMT model.

    Args:
        settings: config.json.
        generation: generation_config.json, which goes first where it says more.
        sizes: Words of the source and the target vocabulary.
        unk: Id of unknown pieces.
        where: Origin, for error messages.
    """
    options = {**settings, **{k: v for k, v in generation.items() if v is not None}}
    _check(options, where)
    for part in ("attention_heads", "ffn_dim"):
        if options.get(f"encoder_{part}") != options.get(f"decoder_{part}"):
            raise ModelError(
                f"{where}: encoder_{part} is {_shown(options.get(f'encoder_{part}'))} and "
                f"decoder_{part} {_shown(options.get(f'decoder_{part}'))}: Sieve cannot run "
                "sides of different width"
            )
    eos = _id(options, "eos_token_id", where)
    pad = _id(options, "pad_token_id", where)
    start = _id(options, "decoder_start_token_id", where)
    never = {pad, start, *_bad_words(options, where)} - {eos}
    return ModelConfig(
        src_vocab_size=sizes[0],
        tgt_vocab_size=sizes[1],
        encoder_layers=_number(options, "encoder_layers", where),
        decoder_layers=_number(options, "decoder_layers", where),
        d_model=_number(options, "d_model", where),
        d_ff=_number(options, "encoder_ffn_dim", where),
        heads=_number(options, "encoder_attention_heads", where),
        decoder_mixer="attention",
        tie=_tie(options),
        dropout=0.0,
        nvs_head="none",
        norm="post",
        norm_epsilon=NORM_EPSILON,
        activation=_activation(options, where),
        embedding_scale=options.get("scale_embedding") is True,
        start=start,
        eos=eos,
        pad=pad,
        unk=unk,
        never=tuple(sorted(never)),
    )


def _check(options: Mapping[str, Any], where: str) -> None:
    """Refuses whatever Sieve cannot do, by name."""
    for name, value in options.items():
        if name in _ABLE:
            able, what = _ABLE[name]
            if value is not None and not any(value == a and type(value) is type(a) for a in able):
                raise ModelError(f"{where}: {name} is {_shown(value)}: Sieve cannot run {what}")
        elif name not in _READ | _WITHOUT_EFFECT and value not in (None, False, 0, "", [], {}):
            raise ModelError(
                f"{where}: the option {name} is {_shown(value)}, which this importer does not know"
            )
    for name in _YES_OR_NO:
        if name in options and not isinstance(options[name], bool):
            raise ModelError(f"{where}: {name} is {_shown(options[name])}, expected true or false")
    for name in ("forced_bos_token_id", "suppress_tokens", "begin_suppress_tokens"):
        if options.get(name) not in (None, []):
            raise ModelError(
                f"{where}: {name} is {_shown(options[name])}: Sieve cannot run MarianMT models "
                "with forced or suppressed first tokens"
            )


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 80 else f"{text[:76]} …"


def _number(options: Mapping[str, Any], name: str, where: str) -> int:
    value = options.get(name)
    if type(value) is not int or not 0 < value < 2**20:
        raise ModelError(f"{where}: {name} is {_shown(value)}, expected a number above 0")
    return value


def _id(options: Mapping[str, Any], name: str, where: str) -> int:
    """A special id; several, as newer versions may list them, are one too many."""
    value = options.get(name)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if type(value) is not int:
        raise ModelError(f"{where}: {name} is {_shown(value)}, expected one id")
    return value


def _bad_words(options: Mapping[str, Any], where: str) -> set[int]:
    """Ids that may not be generated."""
    words = options.get("bad_words_ids") or []
    if not isinstance(words, list) or not all(
        isinstance(word, list) and len(word) == 1 and type(word[0]) is int for word in words
    ):
        raise ModelError(
            f"{where}: bad_words_ids is {_shown(words)}: Sieve cannot forbid sequences of several "
            "tokens at import"
        )
    return {word[0] for word in words}


def _tie(options: Mapping[str, Any]) -> Any:
    if options.get("tie_word_embeddings", True) is False:
        return "none"
    return "output" if options.get("share_encoder_decoder_embeddings", True) is False else "all"


def _activation(options: Mapping[str, Any], where: str) -> Any:
    name = options.get("activation_function", "gelu")
    if not isinstance(name, str) or name not in _ACTIVATIONS:
        raise ModelError(
            f"{where}: activation_function is {_shown(name)}: Sieve cannot run activations but "
            f"{', '.join(_ACTIVATIONS)}"
        )
    return _ACTIVATIONS[name]
