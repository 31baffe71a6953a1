"""`sieve.huggingface.select` against all tokens in `generate`, on a CPU.

    python benchmarks/huggingface_select.py --output FILE.json

Random weights of OPUS-MT's and NLLB-200 600M's dimensions, random sources, forced lengths; a head
that gives every sentence the same number of tokens, its own cost included. Both ways alternate; a
decoder step is what a longer output costs more than a shorter one, divided by the difference.
"""

import argparse
import json
import os
import platform
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import torch
import transformers

from sieve.huggingface import select

SOURCE = 20
"""Source tokens."""
STEPS = (2, 14)
"""Output tokens of the short and the long translation."""
CERTAIN = 1 - 1e-9
"""A threshold above every vote: `least` alone decides the size."""
DIMENSIONS: dict[str, dict[str, Any]] = {
    "opus": {"V": 59514, "layers": 6, "width": 512, "hidden": 2048, "heads": 8},
    "nllb": {"V": 256206, "layers": 12, "width": 1024, "hidden": 4096, "heads": 16},
}


def build(name: str, layers: int | None) -> Any:
    """A model of random weights that never ends by itself."""
    size = DIMENSIONS[name]
    settings = {
        "vocab_size": size["V"],
        "d_model": size["width"],
        "pad_token_id": 1,
        "eos_token_id": 2,
        "decoder_start_token_id": 2,
        "forced_eos_token_id": None,
    }
    for side in ("encoder", "decoder"):
        settings[f"{side}_layers"] = layers or size["layers"]
        settings[f"{side}_ffn_dim"] = size["hidden"]
        settings[f"{side}_attention_heads"] = size["heads"]
    if name == "opus":
        config = transformers.MarianConfig(**settings, decoder_vocab_size=size["V"])
        return transformers.MarianMTModel(config).eval()
    return transformers.M2M100ForConditionalGeneration(transformers.M2M100Config(**settings)).eval()


def random_head(name: str) -> dict[str, torch.Tensor]:
    """A tied head, twice as wide inside as the states."""
    V, D = DIMENSIONS[name]["V"], DIMENSIONS[name]["width"]
    return {
        "hidden.weight": torch.randn(2 * D, D) / D**0.5,
        "hidden.bias": torch.zeros(2 * D),
        "out.weight": torch.randn(D, 2 * D) / D**0.5,
        "out.bias": torch.zeros(D),
        "bias": torch.randn(V),
    }


def seconds(model: Any, inputs: dict[str, Any], beams: int) -> list[float]:
    """Of translations of both lengths."""
    spent = []
    for steps in STEPS:
        begin = time.perf_counter()
        model.generate(
            **inputs, num_beams=beams, do_sample=False, min_new_tokens=steps, max_new_tokens=steps
        )
        spent.append(time.perf_counter() - begin)
    return spent


def measure(
    name: str, model: Any, arguments: argparse.Namespace, beams: int, batch: int
) -> dict[str, Any]:
    """Milliseconds of one model, both ways."""
    head = random_head(name)
    ids = torch.randint(3, DIMENSIONS[name]["V"], (batch, SOURCE))
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    rounds: dict[str, list[list[float]]] = {"full": [], "selected": []}
    for repeat in range(arguments.rounds + 1):
        full = seconds(model, inputs, beams)
        with select(model, head, threshold=CERTAIN, least=arguments.tokens) as selection:
            selected = seconds(model, inputs, beams)
            rows = selection.rows
        if repeat:  # the first one warms up
            rounds["full"].append(full)
            rounds["selected"].append(selected)
    steps = STEPS[1] - STEPS[0]
    per_step = {
        way: statistics.median((long - short) / steps for short, long in found)
        for way, found in rounds.items()
    }
    whole = {way: statistics.median(long for _, long in found) for way, found in rounds.items()}
    return {
        "model": name,
        "layers": arguments.layers or DIMENSIONS[name]["layers"],
        "beams": beams,
        "batch": batch,
        "rows": rows,
        "step_ms": {way: round(1000 * value, 2) for way, value in per_step.items()},
        "step_ratio": round(per_step["full"] / per_step["selected"], 2),
        "sentence_ms": {way: round(1000 * value, 1) for way, value in whole.items()},
        "sentence_ratio": round(whole["full"] / whole["selected"], 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", choices=[*DIMENSIONS], default=[*DIMENSIONS])
    parser.add_argument("--layers", type=int, help="of both sides (default: the model's own)")
    parser.add_argument("--tokens", type=int, default=1000, help="of each shortlist")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(arguments.threads)
    rows = []
    with torch.inference_mode():
        for name in arguments.models:
            model = build(name, arguments.layers)
            for beams, batch in ((1, 1), (4, 1), (4, 8)):
                rows.append(measure(name, model, arguments, beams, batch))
                print(json.dumps(rows[-1]), flush=True)
    result = {
        "command": " ".join(["python", "benchmarks/huggingface_select.py", *sys.argv[1:]]),
        "machine": {"cpu": platform.processor() or platform.machine(), "load": os.getloadavg()[0]},
        "threads": arguments.threads,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "source_tokens": SOURCE,
        "output_tokens": STEPS[1],
        "rows": rows,
    }
    if arguments.output is not None:
        arguments.output.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
