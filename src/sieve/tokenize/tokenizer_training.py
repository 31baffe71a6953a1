"""New tokenizers from a sample of sentences: which kind, how large, joint or separate."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from sieve.config import unknown
from sieve.errors import ConfigError
from sieve.tokenize.moses import MosesBpeTokenizer, count_words, train_moses_bpe
from sieve.tokenize.sentence_piece import SentencePieceOptions, train_sentence_piece
from sieve.tokenize.tokenizer import Tokenizers

KINDS = ("sentencepiece-unigram", "sentencepiece-bpe", "moses-bpe")
MAX_VOCAB_SIZE = 1_000_000


@dataclass(frozen=True)
class TokenizerOptions:
    """What a new tokenizer is trained with."""

    kind: str = "sentencepiece-unigram"
    """`sentencepiece-unigram`, `sentencepiece-bpe`, or the paper's `moses-bpe`."""
    vocab_size: int = 32000
    """Pieces of a SentencePiece vocabulary, or merges of `moses-bpe`."""
    separate: bool = False
    """One vocabulary for each side instead of one for both."""
    sample_pairs: int = 250_000
    """At most so many pairs, spread evenly over the corpus, are learned from."""
    character_coverage: float = 0.9995
    """Share of characters that become pieces of their own; SentencePiece spells others in bytes."""
    symbols: tuple[str, ...] = ()
    """Strings that SentencePiece always keeps as one piece."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ConfigError(unknown("kind of tokenizer", self.kind, KINDS))
        if self.vocab_size > MAX_VOCAB_SIZE:
            raise ConfigError(
                f"vocab_size: got {self.vocab_size}, expected at most {MAX_VOCAB_SIZE}"
            )
        if self.sample_pairs < 1:
            raise ConfigError(f"sample_pairs: got {self.sample_pairs}, expected 1 or more")
        if self.kind == "moses-bpe":
            if self.symbols:
                raise ConfigError("symbols: only SentencePiece tokenizers can keep symbols whole")
            if self.vocab_size < 1:
                raise ConfigError(f"vocab_size: got {self.vocab_size}, expected 1 or more")
        else:
            self.sentence_piece()

    def sentence_piece(self) -> SentencePieceOptions:
        """The part that SentencePiece needs."""
        algorithm = self.kind.removeprefix("sentencepiece-")
        return SentencePieceOptions(
            self.vocab_size, algorithm, self.character_coverage, self.symbols
        )


def train_tokenizers(
    options: TokenizerOptions,
    source: Iterable[str],
    target: Iterable[str],
    languages: tuple[str, str] = ("en", "en"),
) -> Tokenizers:
    """Trains the tokenizers of both sides; the same sentences give the same tokenizers."""
    if options.kind == "moses-bpe":
        return _train_moses(options, source, target, languages)
    if not options.separate:
        joint = train_sentence_piece(options.sentence_piece(), chain(source, target))
        return Tokenizers(joint, joint)
    return Tokenizers(
        train_sentence_piece(options.sentence_piece(), source),
        train_sentence_piece(options.sentence_piece(), target),
    )


def _train_moses(
    options: TokenizerOptions,
    source: Iterable[str],
    target: Iterable[str],
    languages: tuple[str, str],
) -> Tokenizers:
    # words are split by the rules of their language also where the pieces are shared
    counts = count_words(languages[0], source), count_words(languages[1], target)
    if options.separate:
        first, second = (train_moses_bpe(words, options.vocab_size) for words in counts)
    else:
        first = second = train_moses_bpe(counts[0] + counts[1], options.vocab_size)
    return Tokenizers(
        MosesBpeTokenizer(languages[0], *first), MosesBpeTokenizer(languages[1], *second)
    )
