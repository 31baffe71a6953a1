"""CTranslate2 under Ray Data, as its users write it: the peer of bulk_throughput.py.

    python benchmarks/bulk_ctranslate2.py MODEL CONVERTED INPUT OUTPUT --workers N --beam-size K

MODEL is the Sieve model whose tokenizer is used, CONVERTED a CTranslate2 model of its dimensions
(random weights, so that a translation is made as long as its source).
"""

import argparse
import logging
from pathlib import Path
from typing import Any

import ray

from sieve.engines.options import SearchOptions
from sieve.translate.load import load
from sieve.translate.translation import Request

BATCH = 1024


class Peer:
    """An actor with a core."""

    def __init__(self, model: str, converted: str, beam_size: int) -> None:
        import ctranslate2

        from serve_ctranslate2 import Peer as Translating

        peer = ctranslate2.Translator(
            converted, device="cpu", compute_type="int8", inter_threads=1, intra_threads=1
        )
        self._peer = Translating(load(model, threads=1), peer)
        self._request = Request(options=SearchOptions(beam_size=beam_size))

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        """A batch of texts as one of translations."""
        translations = self._peer.run([str(text) for text in batch["text"]], self._request)
        return {"text": [translation.text for translation in translations]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("model", "converted", "input", "output"):
        parser.add_argument(name)
    parser.add_argument("--workers", type=int, required=True)
    parser.add_argument("--beam-size", type=int, required=True)
    arguments = parser.parse_args()
    ray.init("local", include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    ray.data.DataContext.get_current().enable_progress_bars = False
    lines = Path(arguments.input).read_text(encoding="utf-8").splitlines()
    blocks = -(-len(lines) // BATCH)
    dataset = ray.data.from_items([{"text": line} for line in lines], override_num_blocks=blocks)
    translated = dataset.map_batches(
        Peer,
        fn_constructor_args=(arguments.model, arguments.converted, arguments.beam_size),
        num_cpus=1,
        compute=ray.data.ActorPoolStrategy(size=arguments.workers),
    )
    with Path(arguments.output).open("w", encoding="utf-8") as file:
        for row in translated.iter_rows():
            file.write(" ".join(row["text"].splitlines()) + "\n")


if __name__ == "__main__":
    main()
