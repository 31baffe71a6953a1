"""What Marian's `model.yml` says of a model, every option checked: a `ModelConfig`, or refused.

An option has a value Sieve can do, or is read, or has no effect on a Transformer that translates;
one that is none of these is refused unless it is switched off. Knows neither files nor tensors.
"""

import re
from collections.abc import Mapping
from typing import Any

from sieve.bundle.config import ModelConfig
from sieve.errors import ModelError
from sieve.importers.marian.flat_yaml import Value, flat_yaml
from sieve.tokenize.vocabulary import Specials

_VERSION = re.compile(r"v?(\d+)\.(\d+)\.(\d+)")
_FIRST_EXACT_GELU = (1, 12, 3)
_FIRST_FULL_PRE_NORM = (1, 11, 0)
NORM_EPSILON = 1e-6
"""Marian's own."""
_OFF: tuple[Value, ...] = (False, "", 0, [], None)
_ABLE: dict[str, tuple[tuple[Value, ...], str]] = {
    "type": (("transformer",), "models that are not Transformers (RNN and others)"),
    "right-left": (_OFF, "models that translate from right to left"),
    "input-types": ((*_OFF, ["sequence", "sequence"]), "inputs other than one source sentence"),
    "layer-normalization": (_OFF, "layer norms inside recurrent cells"),
    "transformer-no-projection": (_OFF, "attention without an output projection"),
    "transformer-pool": (_OFF, "pooling instead of attention"),
    "transformer-train-position-embeddings": (_OFF, "trained position embeddings"),
    "transformer-train-positions": (_OFF, "trained position embeddings"),
    "transformer-tied-layers": (_OFF, "layers tied to each other"),
    "transformer-ffn-depth": ((2,), "feed-forward sublayers that are not two layers deep"),
    "transformer-decoder-ffn-depth": ((*_OFF, 2), "feed-forward sublayers that are not two deep"),
    "transformer-rnn-projection": (_OFF, "a projection behind recurrent units"),
    "transformer-postprocess-emb": (("", "d", None), "layer norms behind embeddings"),
    "transformer-ffn-activation": (("relu", "swish", "gelu"), "activations but relu, swish, gelu"),
    "transformer-decoder-autoreg": (
        ("self-attention", "rnn"),
        "decoders with neither self-attention nor SSRU",
    ),
    "ulr": (_OFF, "universal language representations"),
    "lemma-dim-emb": (_OFF, "factored vocabularies"),
    "lemma-dependency": (_OFF, "factored vocabularies"),
    "factors-dim-emb": (_OFF, "factored vocabularies"),
}
_READ = {
    *("dim-emb", "dim-vocabs", "enc-depth", "dec-depth", "dec-cell", "output-omit-bias"),
    *("tied-embeddings", "tied-embeddings-src", "tied-embeddings-all", "transformer-heads"),
    *("transformer-dim-ffn", "transformer-decoder-dim-ffn", "transformer-preprocess"),
    *("transformer-postprocess", "transformer-postprocess-top"),
    "transformer-guided-alignment-layer",
}
_WITHOUT_EFFECT = {
    *("version", "dim-rnn", "enc-type", "enc-cell", "enc-cell-depth", "dec-cell-base-depth"),
    *("dec-cell-high-depth", "skip", "transformer-aan-activation", "transformer-aan-depth"),
    *("transformer-aan-nogate", "transformer-dim-aan", "bert-train-type-embeddings"),
    *("bert-type-vocab-size", "ulr-dim-emb", "ulr-trainable-transformation", "factors-combine"),
    *("transformer-depth-scaling", "max-length", "original-type", "ulr-dropout"),
    *("ulr-softmax-temperature", "dec-cell-depth", "embedding-fix-src", "embedding-fix-trg"),
    *("dropout-rnn", "dropout-src", "dropout-trg", "transformer-dropout"),
    *(
        "transformer-dropout-attention",
        "transformer-dropout-ffn",
        "label-smoothing",
        "char-highway",
    ),
    *("char-conv-filters-num", "char-conv-filters-widths", "char-stride"),
}
_NORMS = {("", "dan"): "post", ("", "an"): "post", ("n", "da"): "pre", ("n", "a"): "pre"}


def marian_config(text: str, sizes: tuple[int, int], specials: Specials, where: str) -> ModelConfig:
    """The configuration of a model that is fully described by its `model.yml`.

    Args:
        text: Of `model.yml`.
        sizes: Words of the source and the target vocabulary.
        specials: Of the vocabularies.
        where: Origin, for error messages.
    """
    options = flat_yaml(text, where)
    _check(options, where)
    if options.get("transformer-decoder-autoreg", "self-attention") == "rnn":
        mixer = "ssru"
        if options.get("dec-cell") != "ssru":
            raise ModelError(_cannot(where, "dec-cell", options, "recurrent decoders but SSRU"))
    else:
        mixer = "attention"
    wide = options.get("transformer-decoder-dim-ffn") or options.get("transformer-dim-ffn")
    if wide != options.get("transformer-dim-ffn"):
        raise ModelError(
            _cannot(where, "transformer-decoder-dim-ffn", options, "decoders of another width")
        )
    unk = () if specials.unk is None else (specials.unk,)
    return ModelConfig(
        src_vocab_size=sizes[0],
        tgt_vocab_size=sizes[1],
        encoder_layers=_number(options, "enc-depth", where),
        decoder_layers=_number(options, "dec-depth", where),
        d_model=_number(options, "dim-emb", where),
        d_ff=_number(options, "transformer-dim-ffn", where),
        heads=_number(options, "transformer-heads", where),
        decoder_mixer="ssru" if mixer == "ssru" else "attention",
        tie=_tie(options),
        dropout=0.0,
        nvs_head="none",
        norm=_norm(options, where),
        norm_epsilon=NORM_EPSILON,
        activation=_activation(options, where),
        position_step="half_minus_one",
        start=specials.start,
        eos=specials.eos,
        pad=specials.pad,
        unk=specials.unk,
        never=unk,
        alignment_layer=_alignment_layer(options, where),
    )


def _check(options: Mapping[str, Value], where: str) -> None:
    """Refuses whatever Sieve cannot do, by name."""
    if options.get("type") != "transformer":  # its other options do not matter then
        raise ModelError(_cannot(where, "type", options, _ABLE["type"][1]))
    for name, value in options.items():
        if name in _ABLE:
            able, what = _ABLE[name]
            if not any(value == supported and type(value) is type(supported) for supported in able):
                raise ModelError(_cannot(where, name, options, what))
        elif name not in _READ | _WITHOUT_EFFECT and value not in _OFF:
            raise ModelError(
                f"{where}: the option {name} is {_shown(value)}, which this importer does not know"
            )


def _cannot(where: str, name: str, options: Mapping[str, Value], what: str) -> str:
    return f"{where}: {name} is {_shown(options.get(name))}: Sieve cannot run {what}"


def _shown(value: Any) -> str:
    """A value on one line, not without end."""
    text = repr(value)
    return text if len(text) < 80 else f"{text[:76]} …"


def _number(options: Mapping[str, Value], name: str, where: str) -> int:
    value = options.get(name)
    if type(value) is not int or not 0 < value < 2**20:
        raise ModelError(f"{where}: {name} is {_shown(value)}, expected a number above 0")
    return value


def _norm(options: Mapping[str, Value], where: str) -> Any:
    before = str(options.get("transformer-preprocess") or "").replace("d", "")
    after = str(options.get("transformer-postprocess") or "")
    top = str(options.get("transformer-postprocess-top") or "").replace("d", "")
    norm = _NORMS.get((before, after))
    if norm is None or top != ("n" if norm == "pre" else ""):
        raise ModelError(
            f"{where}: got transformer-preprocess '{before}', -postprocess '{after}' and "
            f"-postprocess-top '{top}': Sieve cannot run layer norms but '', 'dan', '' and "
            "'n', 'da', 'n'"
        )
    if norm == "pre" and _version(options) < _FIRST_FULL_PRE_NORM:
        raise ModelError(
            f"{where}: version is {_shown(options.get('version'))}: Sieve cannot run layer norms "
            "before sublayers but of Marian 1.11 and later, which norm keys and values, too"
        )
    return norm


def _version(options: Mapping[str, Value]) -> tuple[int, ...]:
    """Of the Marian that wrote the model; empty where it does not say."""
    match = _VERSION.match(str(options.get("version")))
    return tuple(map(int, match.groups())) if match else ()


def _tie(options: Mapping[str, Value]) -> Any:
    """What the embeddings share: the source's only the target's where all are one."""
    if options.get("tied-embeddings-all"):
        return "all"
    if options.get("tied-embeddings"):
        return "all" if options.get("tied-embeddings-src") else "output"
    return "none"


def _activation(options: Mapping[str, Value], where: str) -> Any:
    name = options.get("transformer-ffn-activation", "swish")
    if name == "gelu" and _version(options) >= _FIRST_EXACT_GELU:
        raise ModelError(
            f"{where}: version is {_shown(options['version'])}, whose gelu is exact (erf): Sieve "
            "cannot run gelu but in the sigmoid form of Marian 1.12.2 and earlier"
        )
    return name


def _alignment_layer(options: Mapping[str, Value], where: str) -> int:
    layer = options.get("transformer-guided-alignment-layer", "last")
    if layer in ("last", "", None):
        return -1
    if type(layer) is not int or layer < 1:
        raise ModelError(f"{where}: transformer-guided-alignment-layer is {_shown(layer)}")
    return layer - 1
