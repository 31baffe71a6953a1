"""Tiny Marian and MarianMT models with random weights, written as their own toolkits write them."""

import io
import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import sentencepiece
from safetensors.numpy import save_file

from sieve.importers.marian.marian_shortlist import checksum

LINES = ["the cat sat on the mat", "a dog and a cat ran", "two dogs sat on a mat near the dog"]
WIDTH, HIDDEN, HEADS = 16, 24, 4
ALPHA = 48.0
"""What activations are multiplied with before they are rounded: some are beyond 127 then."""
SETTINGS: dict[str, Any] = {
    "bert-type-vocab-size": 2,
    "dec-cell": "ssru",
    "dec-depth": 2,
    "dim-emb": WIDTH,
    "dim-rnn": 1024,
    "enc-cell": "gru",
    "enc-depth": 2,
    "enc-type": "bidirectional",
    "input-types": [],
    "layer-normalization": False,
    "lemma-dim-emb": 0,
    "output-omit-bias": False,
    "right-left": False,
    "tied-embeddings": False,
    "tied-embeddings-all": True,
    "tied-embeddings-src": False,
    "transformer-decoder-autoreg": "rnn",
    "transformer-dim-ffn": HIDDEN,
    "transformer-ffn-activation": "relu",
    "transformer-ffn-depth": 2,
    "transformer-guided-alignment-layer": "last",
    "transformer-heads": HEADS,
    "transformer-no-projection": False,
    "transformer-pool": False,
    "transformer-postprocess": "dan",
    "transformer-postprocess-emb": "d",
    "transformer-postprocess-top": "",
    "transformer-preprocess": "",
    "transformer-tied-layers": [],
    "transformer-train-position-embeddings": False,
    "type": "transformer",
    "ulr": False,
    "version": "v1.9.56 2021-04-28",
}
Arrays = dict[str, npt.NDArray[np.float32]]


def spm_model(vocab_size: int = 40) -> bytes:
    """A SentencePiece model as Marian's: `</s>` 0, `<unk>` 1, no bytes."""
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES * 20),
        model_writer=out,
        vocab_size=vocab_size,
        hard_vocab_limit=False,
        eos_id=0,
        unk_id=1,
        bos_id=-1,
        pad_id=-1,
        minloglevel=5,
    )
    return out.getvalue()


def spm_pieces(model: bytes) -> list[str]:
    """Its pieces in the order of their ids."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    return [processor.id_to_piece(index) for index in range(processor.get_piece_size())]


def yaml_of(settings: Mapping[str, Any]) -> str:
    """Settings as Marian writes them."""
    lines = []
    for name, value in settings.items():
        if isinstance(value, list) and value:
            lines += [f"{name}:", *(f"  - {item}" for item in value)]
        elif value == "":
            lines.append(f'{name}: ""')
        else:
            lines.append(f"{name}: {json.dumps(value) if not isinstance(value, str) else value}")
    return "\n".join(lines)


class _Random:
    """Random parameters under Marian's names, matrices (inputs, outputs)."""

    def __init__(self, seed: int, suffix: str) -> None:
        self._rng = np.random.default_rng(seed)
        self._suffix = suffix
        self.arrays: Arrays = {}

    def matrix(self, name: str, inputs: int, outputs: int, scale: float = 1.0) -> None:
        values = self._rng.standard_normal((inputs, outputs)) * scale / outputs**0.5
        self.arrays[name] = values.astype(np.float32)

    def vector(self, name: str, size: int, around: float = 0.0) -> None:
        values = around + 0.1 * self._rng.standard_normal((1, size))
        self.arrays[name] = values.astype(np.float32)

    def norm(self, name: str, suffix: str | None = None) -> None:
        suffix = self._suffix if suffix is None else suffix
        self.vector(f"{name}_scale{suffix}", WIDTH, 1.0)
        self.vector(f"{name}_bias{suffix}", WIDTH)

    def attention(self, name: str) -> None:
        for part in "qkvo":
            self.matrix(f"{name}_W{part}", WIDTH, WIDTH)
            self.vector(f"{name}_b{part}", WIDTH)
        self.norm(f"{name}_Wo_ln")

    def feed_forward(self, name: str) -> None:
        self.matrix(f"{name}_W1", WIDTH, HIDDEN)
        self.vector(f"{name}_b1", HIDDEN)
        self.matrix(f"{name}_W2", HIDDEN, WIDTH)
        self.vector(f"{name}_b2", WIDTH)
        self.norm(f"{name}_ffn_ln")

    def recurrence(self, name: str) -> None:
        self.matrix(f"{name}_W", WIDTH, WIDTH)
        self.matrix(f"{name}_Wf", WIDTH, WIDTH)
        self.vector(f"{name}_bf", WIDTH)
        self.norm(f"{name}_ln" if self._suffix else f"{name}_ffn_ln")


def parameters(settings: Mapping[str, Any], words: int, seed: int = 1) -> Arrays:
    """Random parameters of a model with these settings."""
    random = _Random(seed, "_pre" if "n" in settings["transformer-preprocess"] else "")
    tied_all = settings["tied-embeddings-all"]
    for name in ("Wemb",) if tied_all else ("encoder_Wemb", "decoder_Wemb"):
        random.matrix(name, words, WIDTH)
    if not tied_all and not settings["tied-embeddings"]:
        random.matrix("decoder_ff_logit_out_W", WIDTH, words, 4.0)
    if not settings["output-omit-bias"]:
        random.vector("decoder_ff_logit_out_b", words)
    for n in range(1, settings["enc-depth"] + 1):
        random.attention(f"encoder_l{n}_self")
        random.feed_forward(f"encoder_l{n}_ffn")
    for n in range(1, settings["dec-depth"] + 1):
        if settings["transformer-decoder-autoreg"] == "rnn":
            random.recurrence(f"decoder_l{n}_rnn")
        else:
            random.attention(f"decoder_l{n}_self")
        random.attention(f"decoder_l{n}_context")
        random.feed_forward(f"decoder_l{n}_ffn")
    if settings["transformer-postprocess-top"] == "n":
        random.norm("encoder_top_ln", "")
        random.norm("decoder_top_ln", "")
    return random.arrays


def write_npz(path: Path, settings: Mapping[str, Any], arrays: Arrays) -> None:
    """A `.npz` model."""
    text = np.frombuffer(yaml_of(settings).encode() + b"\0", np.int8)
    np.savez(path, **{**arrays, "special:model.yml": text})  # type: ignore[arg-type]


def quantized(array: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.int8], float]:
    """Integers and the multiplier that made them."""
    multiplier = float(np.float32(127 / np.abs(array).max()))
    return np.rint(array * np.float32(multiplier)).astype(np.int8), multiplier


def marian_binary(settings: Mapping[str, Any], arrays: Arrays, int8: bool = True) -> bytes:
    """A binary model: matrices int8 and turned, as marian-conv writes them, or floats."""
    items: list[tuple[str, int, tuple[int, ...], bytes]] = []
    for name, array in sorted(arrays.items()):
        if int8 and array.shape[0] > 1:
            integers, multiplier = quantized(array)
            stored = integers if name.endswith("Wemb") else integers.T
            data = stored.tobytes() + struct.pack("<f", multiplier)
            items.append((name, 0x4101, array.shape, _padded(data)))
            # of the embedding it is stored as an integer and its multiplier
            kind, data = 0x0404, struct.pack("<f", ALPHA)
            if name == "Wemb":
                kind, data = 0x4101, b"\x7f" + struct.pack("<f", 127 / ALPHA)
            data = _padded(data)
            items.append((f"{name}_QuantMultA", kind, (1, 1), data))
        else:
            items.append((name, 0x0404, array.shape, _padded(array.tobytes())))
    items.append(("special:model.yml", 0x0101, (0,), yaml_of(settings).encode() + b"\0"))
    items[-1] = (*items[-1][:2], (len(items[-1][3]),), items[-1][3])
    return packed(items)


def packed(items: Sequence[tuple[str, int, tuple[int, ...], bytes]]) -> bytes:
    """The container: headers, names, shapes, a gap to a multiple of 256, data."""
    out = struct.pack("<2Q", 1, len(items))
    for name, kind, shape, data in items:
        out += struct.pack("<4Q", len(name.encode()) + 1, kind, len(shape), len(data))
    out += b"".join(name.encode() + b"\0" for name, *_ in items)
    out += b"".join(struct.pack(f"<{len(shape)}i", *shape) for _, _, shape, _ in items)
    gap = -(len(out) + 8) % 256
    return out + struct.pack("<Q", gap) + bytes(gap) + b"".join(data for *_, data in items)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 256)


def shortlist(rows: list[list[int]], first: int = 5, best: int = 5) -> bytes:
    """A binary shortlist."""
    offsets = np.cumsum([0, *map(len, rows)]).astype("<u8")
    ids = np.array([index for row in rows for index in row], "<u4")
    rest = struct.pack("<4Q", first, best, len(offsets), len(ids))
    rest += offsets.tobytes() + ids.tobytes()
    return struct.pack("<2Q", 0xF11A48D5013417F5, checksum(rest)) + rest


def firefox_directory(folder: Path, settings: Mapping[str, Any] = SETTINGS) -> Path:
    """A student as Firefox publishes it, with its shortlist."""
    folder.mkdir(parents=True, exist_ok=True)
    model = spm_model()
    words = len(spm_pieces(model))
    binary = marian_binary(settings, parameters(settings, words))
    (folder / "model.enpt.intgemm.alphas.bin").write_bytes(binary)
    (folder / "vocab.enpt.spm").write_bytes(model)
    rows = [[], [], *([n, (n + 7) % words] for n in range(2, words))]
    (folder / "lex.50.50.enpt.s2t.bin").write_bytes(shortlist([sorted(set(r)) for r in rows]))
    return folder


CONFIG: dict[str, Any] = {
    "model_type": "marian",
    "architectures": ["MarianMTModel"],
    "activation_function": "swish",
    "d_model": WIDTH,
    "decoder_attention_heads": HEADS,
    "decoder_ffn_dim": HIDDEN,
    "decoder_layers": 2,
    "encoder_attention_heads": HEADS,
    "encoder_ffn_dim": HIDDEN,
    "encoder_layers": 2,
    "is_encoder_decoder": True,
    "max_position_embeddings": 64,
    "normalize_before": False,
    "scale_embedding": True,
    "share_encoder_decoder_embeddings": True,
    "static_position_embeddings": True,
    "forced_eos_token_id": 3,
    "eos_token_id": 3,
}


def opus_directory(
    folder: Path, changes: Mapping[str, Any] | None = None, tags: tuple[str, ...] = ()
) -> Path:
    """A MarianMT model with random weights: ids in their own order, EOS 3, pad last."""
    folder.mkdir(parents=True, exist_ok=True)
    source, target = spm_model(40), spm_model(36)
    pieces = [p for p in dict.fromkeys(spm_pieces(target) + spm_pieces(source)) if p != "</s>"]
    pieces.insert(3, "</s>")
    pieces += [*tags, "<pad>"]
    words = len(pieces)
    ends = {"pad_token_id": words - 1, "decoder_start_token_id": words - 1, "vocab_size": words}
    config = {**CONFIG, **ends, "bad_words_ids": [[words - 1]], **(changes or {})}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer_config.json").write_text('{"source_lang": "en", "target_lang": "fr"}')
    (folder / "vocab.json").write_text(json.dumps({p: i for i, p in enumerate(pieces)}))
    (folder / "source.spm").write_bytes(source)
    (folder / "target.spm").write_bytes(target)
    save_file(opus_tensors(config), folder / "model.safetensors")
    return folder


def opus_tensors(config: Mapping[str, Any], seed: int = 2) -> Arrays:
    """Random tensors under transformers' names."""
    rng = np.random.default_rng(seed)
    words = config["vocab_size"]
    shared = (rng.standard_normal((words, WIDTH)) / 4).astype(np.float32)
    shared[config["pad_token_id"]] = 0
    bias = (rng.standard_normal((1, words)) / 4).astype(np.float32)
    arrays: Arrays = {"model.shared.weight": shared, "final_logits_bias": bias}

    def linear(name: str, outputs: int, inputs: int) -> None:
        weight = rng.standard_normal((outputs, inputs)) / inputs**0.5
        arrays[f"{name}.weight"] = weight.astype(np.float32)
        arrays[f"{name}.bias"] = (rng.standard_normal(outputs) / 8).astype(np.float32)

    def norm(name: str) -> None:
        arrays[f"{name}.weight"] = (1 + rng.standard_normal(WIDTH) / 8).astype(np.float32)
        arrays[f"{name}.bias"] = (rng.standard_normal(WIDTH) / 8).astype(np.float32)

    for side in ("encoder", "decoder"):
        for n in range(config[f"{side}_layers"]):
            name = f"model.{side}.layers.{n}"
            for block in ("self_attn", *(("encoder_attn",) if side == "decoder" else ())):
                for part in "qkv":
                    linear(f"{name}.{block}.{part}_proj", WIDTH, WIDTH)
                linear(f"{name}.{block}.out_proj", WIDTH, WIDTH)
                norm(f"{name}.{block}_layer_norm")
            linear(f"{name}.fc1", HIDDEN, WIDTH)
            linear(f"{name}.fc2", WIDTH, HIDDEN)
            norm(f"{name}.final_layer_norm")
    return arrays
