"""Check this machine: CPU, kernels, packages, models, and the speed of a model.

The self-test translates one sentence after another for a second, each alone, on one thread. Send
the output along with a bug report: it contains no names and no paths.

Examples:
  sieve doctor
  sieve doctor models/my-en-de
  sieve doctor --json | jq .test.milliseconds
"""

import argparse
import importlib.util
import os
import platform
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sieve
from sieve.cli.lines import as_json
from sieve.errors import SieveError
from sieve.processes.cores import usable_cores

if TYPE_CHECKING:
    from sieve.translate.translator import Translator

FEATURES = {
    "avx2": "AVX2", "fma": "FMA", "avx_vnni": "AVX-VNNI", "avx512f": "AVX-512",
    "avx512_vnni": "AVX-512 VNNI", "amx_int8": "AMX", "asimd": "NEON",
    "asimddp": "NEON dot product", "i8mm": "NEON i8mm",
}  # fmt: skip
PACKAGES = ("numpy", "safetensors", "sentencepiece", "torch", "sacrebleu", "uvicorn")
SENTENCES = {
    "en": "The weather was so good yesterday that we stayed in the garden until late.",
    "de": "Das Wetter war gestern so gut, dass wir bis spät im Garten geblieben sind.",
    "ru": "Вчера погода была такой хорошей, что мы до позднего вечера оставались в саду.",
}
SECONDS = 1.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `sieve doctor`."""
    parser.add_argument(
        "model", metavar="MODEL", nargs="?", help="model to test (default: the first built-in one)"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")


def execute(arguments: argparse.Namespace) -> None:
    """Runs `sieve doctor`."""
    from sieve.bundle.catalogue import built_in

    models = {name: _described(path) for name, path in built_in().items()}
    name = arguments.model or next(iter(models), None)
    kernels = _kernels()
    facts = {
        "version": sieve.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": _cpu(),
        "kernels": kernels,
        "packages": {package: _installed(package) for package in PACKAGES},
        "models": models,
        "test": _tested(name) if name and kernels["chosen"] else None,
    }
    if arguments.json:
        sys.stdout.buffer.write(as_json(facts))
    else:
        print("\n".join(_lines(facts)))


def _cpu() -> dict[str, Any]:
    fields: dict[str, str] = {}
    path = Path("/proc/cpuinfo")
    if path.is_file():
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            fields.setdefault(name.strip(), value.strip())
    flags = (fields.get("flags") or fields.get("Features") or "").split()
    return {
        "name": fields.get("model name") or platform.processor() or "unknown",
        "cores": usable_cores(),
        "features": [text for flag, text in FEATURES.items() if flag in flags],
    }


def _kernels() -> dict[str, Any]:
    if importlib.util.find_spec("sieve._native") is None:
        return {"available": [], "chosen": None}
    from sieve.engines.native.native_engine import available_kernels

    known = available_kernels()
    return {"available": known, "chosen": os.environ.get("SIEVE_KERNELS") or known[0]}


def _installed(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _described(directory: Path) -> dict[str, Any]:
    from sieve.bundle.directory import open_bundle

    size = sum(path.stat().st_size for path in directory.iterdir() if path.is_file())
    try:
        bundle = open_bundle(directory)
        bundle.folder.check()
        config = bundle.config
    except SieveError as error:
        return {"error": str(error)}
    weights = config.get("weights")
    kind = weights.get("format") if isinstance(weights, dict) else None
    return {
        "languages": config.get("languages"),
        "weights": kind or "float32",
        "megabytes": round(size / 1e6, 1),
    }


def _tested(model: str) -> dict[str, Any]:
    """A model's speed: one sentence at a time, one thread, a second long."""
    from sieve.translate.load import load

    begin = time.perf_counter()
    translator = load(model, threads=1)
    sentence = SENTENCES.get(translator.languages[0], SENTENCES["en"])
    translation = translator.translate(sentence)
    first = time.perf_counter() - begin
    times = sorted(_times(translator, sentence))
    return {
        "model": Path(model).name,
        "engine": str(translator.engine),
        "source": sentence,
        # a model may write any bytes: none of them may steer a terminal
        "translation": "".join(c if c.isprintable() else "�" for c in translation.text),
        "words": [translation.shortlist_size, translation.vocab_size],
        "first_milliseconds": round(1000 * first, 1),
        "sentences": len(times),
        "milliseconds": round(1000 * times[len(times) // 2], 2),
        "p90_milliseconds": round(1000 * times[len(times) * 9 // 10], 2),
    }


def _times(translator: "Translator", sentence: str) -> list[float]:
    times: list[float] = []
    end = time.perf_counter() + SECONDS
    while not times or time.perf_counter() < end:
        begin = time.perf_counter()
        translator.translate(sentence)
        times.append(time.perf_counter() - begin)
    return times


def _lines(facts: dict[str, Any]) -> list[str]:
    cpu, kernels, test = facts["cpu"], facts["kernels"], facts["test"]
    packages = ", ".join(f"{k} {v}" for k, v in facts["packages"].items() if v)
    missing = ", ".join(k for k, v in facts["packages"].items() if not v)
    chosen = f"{kernels['chosen']} (of {', '.join(kernels['available'])})"
    if not kernels["chosen"]:
        chosen = "none: the native core is not installed; pip install sieve-nmt"
    rows = [
        ("sieve", f"{facts['version']}, Python {facts['python']}, {facts['system']}"),
        ("cpu", f"{cpu['name']}, {cpu['cores']} cores"),
        ("features", ", ".join(cpu["features"]) or "none that are used"),
        ("kernels", chosen),
        ("packages", packages),
        ("without", missing or "nothing"),
    ]
    for name, model in facts["models"].items():
        if "error" in model:
            rows.append(("model", f"{name}: {model['error']}"))
        else:
            rows.append(("model", f"{name}: {model['weights']}, {model['megabytes']} MB"))
    if not facts["models"]:
        rows.append(("model", "none built in; give a directory"))
    if test:
        rows += [
            ("test", f"{test['model']} on {test['engine']}"),
            ("", test["source"]),
            ("", test["translation"]),
            ("", f"{test['words'][0]} of {test['words'][1]} tokens in the shortlist"),
            ("", f"{test['first_milliseconds']} ms to the first translation, including loading"),
            ("", f"{test['milliseconds']} ms per sentence, 9 of 10 within "
                 f"{test['p90_milliseconds']} ms ({test['sentences']} sentences)"),
        ]  # fmt: skip
    return [f"{label:<10}{text}" for label, text in rows]
