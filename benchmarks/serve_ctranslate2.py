"""CTranslate2 behind Sieve's own web layer, for serve_load.py.

Serves a CTranslate2 int8 model of random weights with the dimensions and the vocabulary of a Sieve
model, on its tokenizer: `python serve_ctranslate2.py MODEL`. It has no SSRU, so its decoder has
self-attention. Random weights end nowhere: a translation is made as long as its source. Lines of
about the same length share a call, as its own batches do.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ctranslate2

from cpu_common import SPECIAL, Size, word
from cpu_ctranslate2 import Random
from sieve.bundle.catalogue import find_model
from sieve.bundle.directory import open_bundle
from sieve.bundle.weights import model_config
from sieve.processes.cores import usable_cores
from sieve.serve import service as web_service
from sieve.serve.models import Model, Models
from sieve.serve.run import listen, serve
from sieve.serve.service import Service
from sieve.serve.settings import Settings
from sieve.translate.load import load
from sieve.translate.translation import Request, Translation
from sieve.translate.translator import Translator

BATCH_CHARACTERS = 4000
"""Of a batch: CTranslate2 gains from batches, unlike Sieve."""
STEP = 4
"""Lines whose lengths differ by less are translated in one call."""


class Peer:
    """CTranslate2 in the place of a translator."""

    def __init__(self, own: Translator, peer: Any) -> None:
        self.tokenizers = own.tokenizers
        self.vocab_size = own.engine.vocab_size
        self.peer = peer

    def run(self, lines: Sequence[str], request: Request) -> list[Translation]:
        """Lines of about the same length together."""
        ids = self.tokenizers.source.encode(list(lines))
        groups: dict[int, list[int]] = {}
        for row, one in enumerate(ids):
            groups.setdefault(len(one) // STEP, []).append(row)
        found: dict[int, Translation] = {}
        for rows in groups.values():
            length = round(sum(len(ids[row]) for row in rows) / len(rows)) + 1
            results = self.peer.translate_batch(
                [[*map(word, ids[row]), "</s>"] for row in rows],
                beam_size=request.options.beam_size,
                max_decoding_length=length,
            )
            for row, result in zip(rows, results, strict=True):
                found[row] = self._translation(result.hypotheses[0])
        return [found[row] for row in range(len(lines))]

    def _translation(self, words: list[str]) -> Translation:
        target = self.tokenizers.target
        ids = [int(one[1:]) for one in words if one[0] == "w"]
        pieces = tuple(map(target.piece, ids))
        scores = (0.0,) * len(ids)
        size = self.vocab_size
        return Translation(target.decode([ids])[0], 0.0, size, size, pieces, scores)


def converted(model: Path, directory: Path) -> None:
    """Writes the CTranslate2 model of a Sieve model's size."""
    config = model_config(open_bundle(model))
    size = Size(
        "served", "", config.encoder_layers, config.decoder_layers, config.d_model, config.d_ff,
        config.heads, 0,
    )  # fmt: skip
    assert config.tgt_vocab_size > SPECIAL
    peer = Random(size, config.tgt_vocab_size)
    peer.convert(str(directory), quantization="int8", force=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="Sieve model whose size and tokenizer to take")
    parser.add_argument("--port", type=int, default=0)
    arguments = parser.parse_args()
    web_service.BATCH_CHARACTERS = BATCH_CHARACTERS
    threads = usable_cores()
    own = load(arguments.model, threads=1)
    settings = Settings(port=arguments.port)
    with tempfile.TemporaryDirectory() as folder:
        converted(find_model(arguments.model), Path(folder) / "model")
        peer = ctranslate2.Translator(
            str(Path(folder) / "model"),
            device="cpu",
            compute_type="int8",
            inter_threads=threads,
            intra_threads=1,
        )
    service = Service(Models.of([Model("ctranslate2", own, Peer(own, peer))]), settings)
    with listen(settings) as sock:
        port = sock.getsockname()[1]
        serve(
            service,
            settings,
            sock,
            lambda: print(f"serving at http://127.0.0.1:{port}", file=sys.stderr, flush=True),
            reload=lambda: None,
        )


if __name__ == "__main__":
    main()
