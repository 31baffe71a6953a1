"""Marian int8 through pymarian: an SSRU decoder of the same dimensions, with and without shortlist.

Its EOS cannot win and the maximum length is once the source length, which forces the length. The
parameter names are those that `marian train` writes for this kind of model.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import _pymarian
import numpy as np
import numpy.typing as npt
import pymarian

from cpu_common import (
    BEAM,
    COMMON,
    LEXICON_FILE,
    SPECIAL,
    WORDS,
    Size,
    Stopwatch,
    lexicon_set,
    make_lexicon,
    word,
)

GEMM_TYPES = ("intgemm8", "packed8avx512", "packed8avx2")
"""Its int8 formats. The packed ones leave the output matrix in fp32."""
BEST = 50
"""Words of each source word that the shortlist takes at most; the first COMMON come on top."""
Tensors = Iterator[tuple[str, npt.NDArray[Any]]]


def prepare(directory: Path, size: Size, set_size: int) -> None:
    """Writes random weights in each int8 format, the vocabulary and the lexicon."""
    lexicon = make_lexicon(set_size)
    np.save(directory / LEXICON_FILE, lexicon)
    with (directory / "vocabulary.yml").open("w", encoding="ascii") as file:
        file.writelines(f"{text}: {i}\n" for i, text in enumerate(_vocabulary()))
    with (directory / "lexicon.s2t").open("w", encoding="ascii") as file:
        for index in range(SPECIAL, WORDS):
            file.writelines(f"{word(target)} {word(index)} 0.02\n" for target in lexicon[index])
    source = directory / "model.npz"
    np.savez(source, **dict(_tensors(size)))
    for kind in GEMM_TYPES:
        goal = str(directory / f"model.{kind}.bin")
        _pymarian.main(["convert", "--from", str(source), "--to", goal, "--gemm-type", kind])
    source.unlink()


def _vocabulary() -> list[str]:
    return ["</s>", "<unk>", *map(word, range(2, WORDS))]


def _tensors(size: Size) -> Tensors:
    D = size.d_model
    rng = np.random.default_rng(0)
    yield "Wemb", rng.normal(0, D**-0.5, (WORDS, D)).astype(np.float32)
    bias = rng.normal(0, 0.1, (1, WORDS)).astype(np.float32)
    bias[0, 0] = -1e4  # EOS
    yield "decoder_ff_logit_out_b", bias
    for i in range(1, size.encoder_layers + 1):
        yield from _attention(rng, f"encoder_l{i}_self", D)
        yield from _feed_forward(rng, f"encoder_l{i}_ffn", D, size.d_ff)
    for i in range(1, size.decoder_layers + 1):
        rnn = f"decoder_l{i}_rnn"
        yield from ((f"{rnn}_{name}", _matrix(rng, D, D)) for name in ("W", "Wf"))
        yield f"{rnn}_bf", np.zeros((1, D), np.float32)
        yield from _norm(rnn, "_pre", D)
        yield from _attention(rng, f"decoder_l{i}_context", D)
        yield from _feed_forward(rng, f"decoder_l{i}_ffn", D, size.d_ff)
    yield from _norm("encoder_top", "", D)
    yield from _norm("decoder_top", "", D)
    # A JSON object is YAML, which Marian reads up to a zero byte.
    yield "special:model.yml", np.frombuffer((json.dumps(_config(size)) + "\0").encode(), np.int8)


def _matrix(rng: np.random.Generator, inputs: int, outputs: int) -> npt.NDArray[np.float32]:
    limit = (6 / (inputs + outputs)) ** 0.5
    return rng.uniform(-limit, limit, (inputs, outputs)).astype(np.float32)


def _norm(name: str, suffix: str, D: int) -> Tensors:
    yield f"{name}_ln_scale{suffix}", np.ones((1, D), np.float32)
    yield f"{name}_ln_bias{suffix}", np.zeros((1, D), np.float32)


def _attention(rng: np.random.Generator, name: str, D: int) -> Tensors:
    for part in "qkvo":
        yield f"{name}_W{part}", _matrix(rng, D, D)
        yield f"{name}_b{part}", np.zeros((1, D), np.float32)
    yield from _norm(f"{name}_Wo", "_pre", D)


def _feed_forward(rng: np.random.Generator, name: str, D: int, hidden: int) -> Tensors:
    yield f"{name}_W1", _matrix(rng, D, hidden)
    yield f"{name}_b1", np.zeros((1, hidden), np.float32)
    yield f"{name}_W2", _matrix(rng, hidden, D)
    yield f"{name}_b2", np.zeros((1, D), np.float32)
    yield from _norm(f"{name}_ffn", "_pre", D)


def _config(size: Size) -> dict[str, Any]:
    return {
        "type": "transformer", "dim-vocabs": [WORDS, WORDS], "dim-emb": size.d_model,
        "enc-depth": size.encoder_layers, "dec-depth": size.decoder_layers,
        "transformer-heads": size.heads, "transformer-dim-ffn": size.d_ff,
        "transformer-ffn-depth": 2, "transformer-ffn-activation": "relu",
        "transformer-decoder-dim-ffn": 0, "transformer-decoder-ffn-depth": 0,
        "transformer-decoder-autoreg": "rnn", "dec-cell": "ssru",
        "dec-cell-base-depth": 2, "dec-cell-high-depth": 1, "transformer-rnn-projection": False,
        "transformer-preprocess": "n", "transformer-postprocess": "da",
        "transformer-postprocess-emb": "d", "transformer-postprocess-top": "n",
        "tied-embeddings": False, "tied-embeddings-all": True, "tied-embeddings-src": False,
        "layer-normalization": False, "right-left": False, "skip": False, "ulr": False,
        "input-types": [], "transformer-tied-layers": [], "lemma-dim-emb": 0,
        "transformer-no-projection": False, "transformer-train-position-embeddings": False,
        "output-omit-bias": False, "version": "random weights",
    }  # fmt: skip


class Subject:
    """An opened model in the int8 format that `settings` names."""

    def __init__(
        self, directory: Path, size: Size, selection: str, settings: dict[str, Any]
    ) -> None:
        self.shortlist = selection == "lexicon"
        self.lexicon = np.load(directory / LEXICON_FILE, mmap_mode="r")
        self.model = directory / f"model.{settings['gemm_type']}.bin"
        vocabulary = directory / "vocabulary.yml"
        options = (
            f"--models {self.model} --vocabs {vocabulary} {vocabulary} --cpu-threads 1 "
            f"--beam-size {BEAM} --normalize 1 --mini-batch 1 --max-length-factor 1 "
            "--workspace 128 --quiet"
        )
        if self.shortlist:
            options += f" --shortlist {directory / 'lexicon.s2t'} {COMMON} {BEST}"
        self.translator = pymarian.Translator(options)

    def facts(self) -> dict[str, Any]:
        """Version, and size of the model file."""
        return {
            "version": pymarian.__version__,
            "model_mb": round(self.model.stat().st_size / 1e6, 1),
        }

    def translate(self, ids: list[int]) -> dict[str, Any]:
        """One sentence; Marian adds EOS to the source."""
        text = [" ".join(map(word, ids[:-1]))]
        with Stopwatch() as watch:
            found = self.translator.translate(text)
        output = found[0].split()
        if not self.shortlist:
            return watch.answer(len(output), WORDS)
        words = lexicon_set(self.lexicon, ids)
        size = -(-len(words) // 8) * 8  # filled up with the words after the first ones
        allowed = words | set(range(COMMON, COMMON + 8))
        outside = [token for token in output if int(token[1:]) not in allowed]
        assert not outside, f"words outside of the shortlist: {outside}"
        return watch.answer(len(output), size)
