"""Fixtures that several rooms use."""

import os
import random
import signal
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from torchless import modules_that_need_torch

# A shell starts background jobs with SIGINT ignored, and children inherit that: the tests that
# press Ctrl-C on a command would then wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Threads of torch that wait by spinning take the cores from other processes.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch is imported

# Where torch is not installed, the tests that need none run (docs/install.md says where they did).
collect_ignore = modules_that_need_torch() if find_spec("torch") is None else []

# A busy machine fails nothing: timing is no pass condition.
settings.register_profile("sieve", deadline=None)
settings.load_profile("sieve")


@dataclass(frozen=True)
class ToyData:
    """A small generated language pair: words to words, the order turned round."""

    corpus: Path
    valid_src: Path
    valid_tgt: Path


@pytest.fixture(scope="session")
def toy_data(tmp_path_factory: pytest.TempPathFactory) -> ToyData:
    from sieve.data.corpus_writer import write_corpus
    from sieve.tokenize.tokenizer_training import TokenizerOptions, train_tokenizers

    rng = random.Random(7)
    words = ["".join(rng.choices("bdfgklmnprst", k=2)) + c for c in "aeiou" for _ in range(8)]
    sources = [" ".join(rng.choices(words, k=rng.randint(1, 9))) for _ in range(340)]
    targets = [" ".join(word.upper() for word in reversed(s.split())) for s in sources]
    options = TokenizerOptions(vocab_size=400)
    tokenizers = train_tokenizers(options, sources, targets)
    root = tmp_path_factory.mktemp("toy")
    write_corpus(root / "corpus", (sources[:300], targets[:300]), tokenizers, ("xx", "yy"))
    (root / "valid.xx").write_text("\n".join(sources[300:]) + "\n")
    (root / "valid.yy").write_text("\n".join(targets[300:]) + "\n")
    return ToyData(root / "corpus", root / "valid.xx", root / "valid.yy")


@pytest.fixture
def toy_settings(toy_data: ToyData) -> dict[str, Any]:
    """Settings of a run of a second: a very small model on the generated pair."""
    dimensions = {"d_model": 16, "d_ff": 32, "heads": 2, "encoder_layers": 1, "decoder_layers": 1}
    valid = {"valid_src": str(toy_data.valid_src), "valid_tgt": str(toy_data.valid_tgt)}
    batches = {"batch_tokens": 400, "device_tokens": 200, "warmup": 3, "positive_weight": 100}
    course = {"max_updates": 6, "validate_every": 4, "checkpoint_every": 2, "log_every": 1}
    return {
        "model": {"preset": "tiny", **dimensions},
        "data": {"train": [str(toy_data.corpus)], **valid},
        "training": {**batches, **course},
    }
