"""Why a sentence got the tokens it got: who voted for what, and what was out of reach.

A source word's vote for an output token is the highest over its pieces, as a probability σ(z); the
word that votes highest decides. Where a lexicon's evidence is added, its share stands beside the
head's; where a lexicon proposes what the head decides among, it says what was not proposed. Works
with any engine; a model without a head has no votes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sieve.engines.options import SearchOptions
from sieve.errors import InputError
from sieve.selection.fusion import best_ranks
from sieve.selection.plan import Selector, Votes
from sieve.selection.selectors import NeuralSelection, Union, log_odds
from sieve.selection.shortlist import Shortlist
from sieve.tokenize.tokenizer import source_ids
from sieve.tokenize.vocabulary import IntArray
from sieve.tokenize.words import word_spans, word_texts
from sieve.translate.translation import Request
from sieve.translate.translator import Translator


@dataclass(frozen=True)
class System:
    """A way to select, and what it makes of the sentence."""

    selection: str
    size: int
    """Tokens it could choose from."""
    translation: str


@dataclass(frozen=True)
class LexiconShare:
    """What the lexicon adds to the head's log-odds of a token."""

    log_odds: float
    word: str
    """The source word in whose list the token stands highest."""
    rank: int
    """In that list, from 1."""


@dataclass(frozen=True)
class ExplainedToken:
    """A piece of an output or a reference."""

    piece: str
    probability: float | None
    """That the head gives it; None without a head."""
    voter: str
    """The source word that voted for it most."""
    missing: tuple[str, ...]
    """Selections under which it cannot be reached."""
    lexicon: LexiconShare | None = None
    """None where selection is by the head alone, or no list has the token."""
    proposed: bool = True
    """False where the head decides among candidates and this token is none."""


@dataclass(frozen=True)
class Text:
    """An output or a reference, token by token."""

    label: str
    tokens: tuple[ExplainedToken, ...]

    def lost(self, selection: str) -> int:
        """Tokens that cannot be reached under a selection."""
        return sum(selection in token.missing for token in self.tokens)


@dataclass(frozen=True)
class Vote:
    """An output token and how probable a source word made it."""

    piece: str
    probability: float
    """With the lexicon's share, if it has one."""
    bonus: float = 0.0
    """The lexicon's share, log-odds."""


@dataclass(frozen=True)
class SourceWord:
    """A word of the source, and the selected tokens that it voted for more than others did."""

    text: str
    number: int
    votes: tuple[Vote, ...]
    """The most probable first, and not all where there are many."""


@dataclass(frozen=True)
class Explanation:
    """Everything there is to show about a sentence."""

    source: str
    vocab_size: int
    systems: tuple[System, ...]
    texts: tuple[Text, ...]
    threshold: float | None
    """λ that `words` were selected by; None without a head."""
    words: tuple[SourceWord, ...]
    fall: float = 0.0
    """By so many log-odds λ is lower here, since the sentence is long."""


@dataclass(frozen=True)
class ExplainOptions:
    """What to explain."""

    selections: tuple[str, ...] = ("none",)
    reference: str = ""
    top: int = 8
    """Votes shown for a source word."""
    search: SearchOptions = field(default_factory=SearchOptions)


def explain(translator: Translator, source: str, options: ExplainOptions) -> Explanation:
    """Translates a sentence in every way and says what selection did to it."""
    if not translator.tokenizers.source.encode([source])[0]:
        raise InputError("the sentence is empty, expected one to explain")
    src_ids = source_ids(translator.tokenizers.source, [source])[0]
    selections = dict.fromkeys(["none", *options.selections])
    translations = {
        name: translator.run([source], Request(name, options.search))[0] for name in selections
    }
    encoded = translator.engine.encode([src_ids])
    sets = {name: translator.selector(name).plan().select(encoded)[0] for name in selections}
    systems = tuple(System(name, len(sets[name]), translations[name].text) for name in selections)
    votes = _votes(translator, options.selections)
    shares = _shares(translator, src_ids, votes)
    head = None
    if translator.resources.threshold is not None:
        head = _Head(translator, src_ids, shares, _candidates(translator, src_ids, votes))
    texts = [("unrestricted output", list(translations["none"].ids))]
    if options.reference:
        encoded_reference = translator.tokenizers.target.encode([options.reference])[0]
        texts.append(("reference", encoded_reference))
    threshold = votes.threshold if votes else translator.resources.threshold
    fall = _fall((votes or translator.resources).fall, src_ids)
    return Explanation(
        source,
        translator.engine.vocab_size,
        systems,
        tuple(
            Text(label, tuple(_token(translator, index, head, sets) for index in indices))
            for label, indices in texts
        ),
        threshold,
        () if head is None or threshold is None else head.words(threshold, fall, options.top),
        fall,
    )


class _Head:
    """What each source word votes for, (words, V), and what the lexicon adds to that."""

    def __init__(
        self,
        translator: Translator,
        src_ids: IntArray,
        shares: Mapping[int, LexiconShare],
        proposed: npt.NDArray[np.bool_],
    ) -> None:
        self._target = translator.tokenizers.target
        self.shares = shares
        self.proposed = proposed
        source = translator.tokenizers.source
        ids = src_ids.tolist()
        self.texts = word_texts(source, ids)
        engine = translator.engine
        (logits,) = engine.position_logits(engine.encode([src_ids]))  # (T, V)
        spans = [list(span) for span in word_spans(source, ids)]
        self._votes = np.stack([logits[span].max(axis=0) for span in spans]).astype(np.float64)
        self.probabilities = _sigmoid(self._votes)

    def best(self, index: int) -> tuple[float, str]:
        """The highest probability of an output token, and the source word it came from."""
        place = int(self.probabilities[:, index].argmax())
        return float(self.probabilities[place, index]), self.texts[place]

    def words(self, threshold: float, fall: float, top: int) -> tuple[SourceWord, ...]:
        """For each source word the selected tokens that it decided."""
        winners = self._votes.argmax(axis=0)  # (V,)
        bonus = np.zeros(len(winners))
        for index, share in self.shares.items():
            bonus[index] = share.log_odds
        evidence = self._votes.max(axis=0) + bonus
        selected, highest = evidence > log_odds(threshold) - fall, _sigmoid(evidence)
        source_words = []
        for place, text in enumerate(self.texts):
            decided = (winners == place) & self.proposed
            chosen = np.flatnonzero(decided & selected)
            order = chosen[np.argsort(-highest[chosen], kind="stable")][:top]
            votes = tuple(
                Vote(self._target.piece(int(index)), float(highest[index]), float(bonus[index]))
                for index in order
            )
            source_words.append(SourceWord(text, len(chosen), votes))
        return tuple(source_words)


def _token(
    translator: Translator, index: int, head: _Head | None, sets: Mapping[str, Shortlist]
) -> ExplainedToken:
    probability, voter = head.best(index) if head else (None, "")
    missing = tuple(name for name, words in sets.items() if index not in words)
    share = head.shares.get(index) if head else None
    piece = translator.tokenizers.target.piece(index)
    proposed = head is None or bool(head.proposed[index])
    return ExplainedToken(piece, probability, voter, missing, share, proposed)


def _votes(translator: Translator, selections: Sequence[str]) -> NeuralSelection | None:
    """Of the selections by the head: the one with the model's own λ, else the first."""
    own = translator.resources.threshold
    parts = [part for name in selections for part in _parts(translator.selector(name))]
    asked = [part for part in parts if isinstance(part, NeuralSelection)]
    fitting = [selector for selector in asked if selector.threshold == own]
    return next(iter(fitting or asked), None)


def _fall(fall: float, src_ids: IntArray) -> float:
    """By how much the threshold is lower in this sentence."""
    return float(Votes(0.0, fall=fall).falls([src_ids])[0])


def _parts(selector: Selector) -> tuple[Selector, ...]:
    return selector.parts if isinstance(selector, Union) else (selector,)


def _candidates(
    translator: Translator, src_ids: IntArray, votes: NeuralSelection | None
) -> npt.NDArray[np.bool_]:
    """Which tokens (V,) the head may choose."""
    if votes is None or votes.among is None:
        return np.ones(translator.engine.vocab_size, np.bool_)
    proposed = np.zeros(translator.engine.vocab_size, np.bool_)
    proposed[votes.among([src_ids])[0]] = True
    return proposed


def _shares(
    translator: Translator, src_ids: IntArray, votes: NeuralSelection | None
) -> dict[int, LexiconShare]:
    """What the lexicon adds to each token, where it has a say at all."""
    if votes is None or votes.evidence is None:
        return {}
    source, ids = translator.tokenizers.source, src_ids.tolist()
    lexicon, bonus = votes.evidence.lexicon, votes.evidence.fusion.by_rank
    shares: dict[int, LexiconShare] = {}
    for text, span in zip(word_texts(source, ids), word_spans(source, ids), strict=True):
        targets, ranks = best_ranks(lexicon, src_ids[list(span)], len(bonus))
        for target, rank in zip(targets.tolist(), ranks.tolist(), strict=True):
            if target not in shares or rank + 1 < shares[target].rank:
                shares[target] = LexiconShare(float(bonus[rank]), text, rank + 1)
    return shares


def _sigmoid(log_odds: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    odds: npt.NDArray[np.float64] = 1.0 / (1.0 + np.exp(-log_odds))
    return odds
