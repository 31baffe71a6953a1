"""CTranslate2 int8: a Transformer of the same dimensions, with and without a vocabulary map.

It has no SSRU, so its decoder has self-attention. Its EOS cannot win and the decoding length has a
maximum, which forces the length.
"""

import time
from pathlib import Path
from typing import Any

import ctranslate2
import numpy as np
from ctranslate2.converters.converter import Converter
from ctranslate2.specs import TransformerSpec, common_spec

from cpu_common import (
    BEAM,
    COMMON,
    EOS,
    LEXICON_FILE,
    SPECIAL,
    WORDS,
    Size,
    Stopwatch,
    lexicon_set,
    make_lexicon,
    word,
)


def prepare(directory: Path, size: Size, set_size: int) -> None:
    """Writes int8 model directories from random weights: `plain`, and `vmap` with the map."""
    lexicon = make_lexicon(set_size)
    np.save(directory / LEXICON_FILE, lexicon)
    vmap = directory / "vmap.txt"
    with vmap.open("w", encoding="ascii") as file:
        file.write("\t" + " ".join(word(i) for i in range(SPECIAL, COMMON)) + "\n")
        for index in range(SPECIAL, WORDS):
            file.write(f"{word(index)}\t{' '.join(map(word, lexicon[index]))}\n")
    Random(size).convert(str(directory / "plain"), quantization="int8", force=True)
    Random(size).convert(str(directory / "vmap"), vmap=str(vmap), quantization="int8", force=True)


class Random(Converter):  # type: ignore[misc]
    """What their converters do, from no file."""

    def __init__(self, size: Size, words: int = WORDS) -> None:
        self.size = size
        self.words = words

    def _load(self) -> Any:
        return _spec(self.size, self.words)


def _spec(size: Size, words: int) -> Any:
    layers = (size.encoder_layers, size.decoder_layers)
    relu = common_spec.Activation.RELU
    spec = TransformerSpec.from_config(layers, size.heads, pre_norm=True, activation=relu)
    rng = np.random.default_rng(0)
    D = size.d_model

    def linear(layer: Any, outputs: int, inputs: int) -> None:
        limit = np.float32((6 / (outputs + inputs)) ** 0.5)
        layer.weight = rng.uniform(-limit, limit, (outputs, inputs)).astype(np.float32)
        layer.bias = np.zeros(outputs, np.float32)

    def norm(layer: Any) -> None:
        layer.gamma, layer.beta = np.ones(D, np.float32), np.zeros(D, np.float32)

    def attention(layer: Any, *outputs: int) -> None:
        for part, width in zip(layer.linear, outputs, strict=True):
            linear(part, width, D)
        norm(layer.layer_norm)

    def feed_forward(layer: Any) -> None:
        linear(layer.linear_0, size.d_ff, D)
        linear(layer.linear_1, D, size.d_ff)
        norm(layer.layer_norm)

    embedding = rng.normal(0, D**-0.5, (words, D)).astype(np.float32)
    spec.encoder.embeddings[0].weight = embedding
    spec.decoder.embeddings.weight = embedding
    spec.decoder.projection.weight = embedding
    spec.decoder.projection.bias = rng.normal(0, 0.1, words).astype(np.float32)
    spec.decoder.projection.bias[EOS] = -1e4
    for layer in spec.encoder.layer:
        attention(layer.self_attention, 3 * D, D)
        feed_forward(layer.ffn)
    for layer in spec.decoder.layer:
        attention(layer.self_attention, 3 * D, D)
        attention(layer.attention, D, 2 * D, D)
        feed_forward(layer.ffn)
    norm(spec.encoder.layer_norm)
    norm(spec.decoder.layer_norm)
    vocabulary = ["<blank>", "<s>", "</s>", "<unk>", *map(word, range(SPECIAL, words))]
    spec.register_source_vocabulary(vocabulary)
    spec.register_target_vocabulary(vocabulary)
    return spec


class Subject:
    """An opened model; `settings` may name the numbers of threads."""

    def __init__(
        self, directory: Path, size: Size, selection: str, settings: dict[str, Any]
    ) -> None:
        self.vmap = selection == "lexicon"
        self.lexicon = np.load(directory / LEXICON_FILE, mmap_mode="r")
        self.directory = directory / ("vmap" if self.vmap else "plain")
        self.translator = ctranslate2.Translator(
            str(self.directory),
            device="cpu",
            compute_type="int8",
            inter_threads=settings.get("inter_threads", 1),
            intra_threads=settings.get("intra_threads", 1),
        )

    def facts(self) -> dict[str, Any]:
        """Version, size of the model file and what the library says of its arithmetic."""
        return {
            "version": ctranslate2.__version__,
            "model_mb": round((self.directory / "model.bin").stat().st_size / 1e6, 1),
            "compute_type": self.translator.compute_type,
        }

    def translate(self, ids: list[int]) -> dict[str, Any]:
        """One sentence."""
        tokens = [*map(word, ids[:-1]), "</s>"]
        with Stopwatch() as watch:
            found = self.translator.translate_batch(
                [tokens], beam_size=BEAM, max_decoding_length=len(ids), use_vmap=self.vmap
            )
        output = found[0].hypotheses[0]
        if not self.vmap:
            return watch.answer(len(output), WORDS)
        words = lexicon_set(self.lexicon, ids)
        outside = {token for token in output if token[0] == "w" and int(token[1:]) not in words}
        assert not outside, f"words outside of the map: {outside}"
        return watch.answer(len(output), len(words))

    def bulk(self, sentences: list[list[int]], options: dict[str, Any]) -> dict[str, Any]:
        """All sentences, a request for each length: the maximum length belongs to a request."""
        groups: dict[int, list[list[str]]] = {}
        for ids in sorted(sentences, key=len, reverse=True):
            groups.setdefault(len(ids), []).append([*map(word, ids[:-1]), "</s>"])
        begin = time.perf_counter()
        pending = [
            self.translator.translate_batch(
                group,
                beam_size=BEAM,
                max_decoding_length=length,
                use_vmap=self.vmap,
                asynchronous=True,
                **options,
            )
            for length, group in groups.items()
        ]
        lengths = [len(one.result().hypotheses[0]) for request in pending for one in request]
        return {"seconds": time.perf_counter() - begin, "tokens": sum(lengths)}
