"""From the generated language to a trained model, through the same commands that users have.

Used by the demo and by the system test: `make_corpus`, `train`, and what the two measure.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from language import Language, Pair

from sieve.cli.main import main
from sieve.data.alignments import Alignments
from sieve.data.corpus import Ragged
from sieve.engines.engine import FloatArray
from sieve.evaluate.measure.recall import Recall, RecallMeter, recall_of_sets
from sieve.selection.lexicon import Lexicon, LexiconBuilder
from sieve.tokenize.tokenizer import Tokenizer, Tokenizers
from sieve.tokenize.vocabulary import EOS
from sieve.translate.translator import Translator

CONFIG = Path(__file__).with_name("demo.toml")
TRAIN_PAIRS, TEST_PAIRS = 20_000, 500
VOCAB_SIZE = 2500
MEAN_SIZE = 32
"""Words in a set, on average, where ways of selecting are compared."""
THRESHOLD = 0.5
"""λ: with λ_p = auto:1, found and not found weigh the same in training."""
_BATCH = 100


@dataclass(frozen=True)
class Experiment:
    """A generated language and the directory where everything made from it lies."""

    directory: Path
    seed: int = 1

    @property
    def corpus(self) -> Path:
        """What `sieve prepare` makes."""
        return self.directory / "corpus"

    @property
    def run(self) -> Path:
        """The run directory of `sieve train`."""
        return self.directory / "run"

    @property
    def model(self) -> Path:
        """The trained model."""
        return self.run / "model"

    def pairs(self) -> tuple[list[Pair], list[Pair]]:
        """Training and test pairs; no sentence is in both."""
        pairs = Language(self.seed).pairs(TRAIN_PAIRS + TEST_PAIRS, self.seed)
        return pairs[:TRAIN_PAIRS], pairs[TRAIN_PAIRS:]

    def prepare(self) -> None:
        """Writes the text and runs `sieve prepare`."""
        self.directory.mkdir(parents=True, exist_ok=True)
        for name, pairs in zip(("train", "test"), self.pairs(), strict=True):
            for side in ("source", "target"):
                lines = [getattr(pair, f"{side}_text") + "\n" for pair in pairs]
                (self.directory / f"{name}.{side}").write_text("".join(lines), encoding="utf-8")
        command = ["prepare", "--pair", *self._files("train"), "--output", str(self.corpus)]
        command += ["--vocab-size", str(VOCAB_SIZE), "--max-length-ratio", "off", "--overwrite"]
        _sieve(command)

    def train(self, *settings: str) -> None:
        """Runs `sieve train` with demo.toml and settings such as `training.seed=2`."""
        command = ["train", "--config", str(CONFIG), "--data", str(self.corpus)]
        command += ["--valid", *self._files("test"), "--output", str(self.run)]
        _sieve([*command, *(f"--set={setting}" for setting in settings)])

    def _files(self, name: str) -> list[str]:
        return [str(self.directory / f"{name}.{side}") for side in ("source", "target")]


@dataclass(frozen=True)
class Selections:
    """What three ways of selecting find of the words that translate idioms, at one mean size."""

    at_threshold: Recall
    """Neural selection at THRESHOLD, whatever the size of its sets."""
    neural: Recall
    lexicon: Recall
    k: int
    """Of the lexicon."""
    without_context: Recall
    """The same trained head, fed with every source word alone."""


def compare(
    translator: Translator, lexicon: Lexicon, pairs: Sequence[Pair], mean_size: int
) -> Selections:
    """Recall of idiom words of the neural head, of the lexicon, and of the head without context.

    The lexicon gets the smallest k with which its sets are at least as large.
    """
    sources = source_ids(translator.tokenizers, pairs)
    words = idiom_ids(translator.tokenizers, pairs)
    vocab_size = translator.engine.vocab_size
    k = next(k for k in itertools.count(1) if _mean_size(lexicon, sources, k) >= mean_size)
    sets = [lexicon.top_k(ids, k) for ids in sources]
    with_context = RecallMeter(len(pairs), vocab_size, [THRESHOLD], [mean_size])
    without_context = RecallMeter(len(pairs), vocab_size, [], [mean_size])
    head_without_context = WithoutContext(translator, sources)
    for start in range(0, len(pairs), _BATCH):
        part = slice(start, start + _BATCH)
        with_context.add(bow_logits(translator, sources[part]), words[part])
        without_context.add(head_without_context(sources[part]), words[part])
    return Selections(
        at_threshold=with_context.at_thresholds()[0],
        neural=with_context.at_sizes()[0],
        lexicon=recall_of_sets(sets, words, vocab_size),
        k=k,
        without_context=without_context.at_sizes()[0],
    )


def _mean_size(lexicon: Lexicon, sources: Sequence[np.ndarray], k: int) -> float:
    return float(np.mean([len(lexicon.top_k(ids, k)) for ids in sources]))


def bow_logits(translator: Translator, sources: Sequence[np.ndarray]) -> FloatArray:
    """(B, V) max-pooled logits of the trained head."""
    return translator.engine.bow_logits(translator.engine.encode(sources))


class WithoutContext:
    """The trained head as one that ignores context: maximum over the words, each encoded alone.

    The control of the paper's table 6: what it finds, it finds without looking at the sentence.
    """

    def __init__(self, translator: Translator, sources: Sequence[np.ndarray]) -> None:
        words = np.unique(np.concatenate(sources))
        self._row = {int(word): row for row, word in enumerate(words)}
        alone = [np.array([word, EOS]) if word != EOS else np.array([EOS]) for word in words]
        self._logits = bow_logits(translator, alone)

    def __call__(self, sources: Sequence[np.ndarray]) -> FloatArray:
        """(B, V) logits of the sentences."""
        rows = [[self._row[int(word)] for word in ids] for ids in sources]
        return np.stack([self._logits[row].max(axis=0) for row in rows])


def source_ids(tokenizers: Tokenizers, pairs: Sequence[Pair]) -> list[np.ndarray]:
    """Source ids with EOS, as engines take them."""
    encoded = tokenizers.source.encode([pair.source_text for pair in pairs])
    return [np.array([*ids, EOS]) for ids in encoded]


def idiom_ids(tokenizers: Tokenizers, pairs: Sequence[Pair]) -> list[list[int]]:
    """Ids of the words that translate an idiom and nothing else; empty for other sentences."""
    return tokenizers.target.encode([" ".join(pair.idiom_words) for pair in pairs])


def gold_lexicon(tokenizers: Tokenizers, pairs: Sequence[Pair]) -> Lexicon:
    """A lexicon of the pairs' own alignments: better than any aligner could make it.

    A link between two words links all their pieces.
    """
    src, src_words = _pieces(tokenizers.source, [pair.source_text for pair in pairs])
    tgt, tgt_words = _pieces(tokenizers.target, [pair.target_text for pair in pairs])
    counts, links = [0], []
    for pair, src_spans, tgt_spans in zip(pairs, src_words, tgt_words, strict=True):
        found = [
            link
            for source, target in pair.links
            for link in itertools.product(src_spans[source], tgt_spans[target])
        ]
        counts.append(len(found))
        links += found
    positions = np.array(links, np.int16).reshape(-1, 2)
    alignments = Alignments(np.cumsum(counts), positions[:, 0], positions[:, 1])
    builder = LexiconBuilder(tokenizers.source.vocab_size, tokenizers.target.vocab_size)
    builder.add(src, tgt, alignments)
    return builder.build()


def _pieces(tokenizer: Tokenizer, lines: Sequence[str]) -> tuple[Ragged, list[list[range]]]:
    """Ids of the lines, and for each line the piece positions of each of its words."""
    encoded = tokenizer.encode(lines)
    offsets = np.cumsum([0, *map(len, encoded)]).astype(np.int64)
    spans = []
    for ids in encoded:
        starts = [i for i, piece in enumerate(ids) if tokenizer.piece(piece).startswith("▁")]
        spans.append([range(a, b) for a, b in itertools.pairwise([*starts, len(ids)])])
    return Ragged(np.concatenate([np.array(ids, np.int32) for ids in encoded]), offsets), spans


def _sieve(command: list[str]) -> None:
    """Runs a command of Sieve in this process."""
    code = main(command)
    if code:
        raise SystemExit(code)
