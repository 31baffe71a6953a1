"""`make demo`: generates a language pair, trains a model on it, and shows what selection does.

Everything is made under ./demo, within about two minutes on two cores; a second run finds the
trained model there and only translates.
"""

import os
import shutil
import sys
import time
from pathlib import Path

from experiment import (
    MEAN_SIZE,
    THRESHOLD,
    TRAIN_PAIRS,
    Experiment,
    Selections,
    compare,
    gold_lexicon,
)
from language import Pair

import sieve
from sieve.selection.lexicon import Lexicon
from sieve.selection.selectors import LexiconTopK
from sieve.translate.translator import Translator

DIRECTORY = Path("demo")
SHOWN = 6
_COLORS = sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def main() -> None:
    experiment = Experiment(DIRECTORY)
    trained = experiment.model.is_dir()
    start = time.monotonic()
    if not trained:
        say(f"Generating {TRAIN_PAIRS} sentence pairs, preparing them, training a small model …")
        shutil.rmtree(experiment.run, ignore_errors=True)
        experiment.prepare()
        experiment.train()
        train_pairs, _ = experiment.pairs()
        gold_lexicon(sieve.load(experiment.model).tokenizers, train_pairs).save(experiment.model)
        say(f"Trained in {time.monotonic() - start:.0f} s. The model is in {experiment.model}/")
    else:
        say(f"Using the model in {experiment.model}/ (remove {DIRECTORY}/ to train it again)")
    _, test_pairs = experiment.pairs()
    translator = sieve.load(experiment.model)
    lexicon = Lexicon.open(experiment.model)
    selections = compare(translator, lexicon, test_pairs, MEAN_SIZE)
    show_sentences(translator, lexicon, test_pairs, selections)
    show_table(translator, test_pairs, selections)
    say("\nTry it yourself:")
    example = next(pair for pair in test_pairs if pair.idiom_words)
    command = f"sieve translate {experiment.model} --selection nvs:{THRESHOLD} --json"
    say(f"  echo '{example.source_text}' | .venv/bin/{command}")


def show_sentences(
    translator: Translator, lexicon: Lexicon, pairs: list[Pair], selections: Selections
) -> None:
    """Some sentences: what was selected, and what an alignment lexicon would have lost."""
    by_alignment = LexiconTopK(lexicon, selections.k)
    shown = [pair for pair in pairs if pair.idiom_words][: SHOWN - 2]
    shown += [pair for pair in pairs if not pair.idiom_words][:2]
    translations = translator.translate([pair.source_text for pair in shown], threshold=THRESHOLD)
    encoded = translator.tokenizers.source.encode([pair.source_text for pair in shown])
    for pair, translation, ids in zip(shown, translations, encoded, strict=True):
        allowed = lexicon.top_k(ids, selections.k)
        pieces = translator.tokenizers.target.encode(pair.target)
        lost = [
            word
            for word, parts in zip(pair.target, pieces, strict=True)
            if not all(part in allowed for part in parts)
        ]
        right = translation.text == pair.target_text
        say(f"\n  source       {pair.source_text}")
        say(f"  translation  {mark_idiom(translation.text, pair)}" + ("" if right else "  (wrong)"))
        if pair.idiom_words:
            say(f"  idiom        {' '.join(pair.idiom_words)}")
        size, all_words = translation.shortlist_size, translation.vocab_size
        say(f"  selection    {size} of {all_words} words ({size / all_words:.1%})")
        say(f"  {by_alignment!s:<11}  {len(allowed)} words", end="")
        say(f", {bad('without ' + ', '.join(lost))}" if lost else ", nothing missing")


def show_table(translator: Translator, pairs: list[Pair], selections: Selections) -> None:
    """The numbers over the whole test set."""
    sources = [pair.source_text for pair in pairs]
    selected = translator.translate(sources, threshold=THRESHOLD)
    unrestricted = translator.translate(sources, selection="none")
    right = sum(t.text == p.target_text for t, p in zip(selected, pairs, strict=True))
    same = sum(a.text == b.text for a, b in zip(selected, unrestricted, strict=True))
    total = len(pairs)
    say(f"\n{total} sentences the model has never seen:")
    say(f"  right, word for word                      {right / total:7.1%}")
    say(f"  the same as without selection             {same / total:7.1%}")
    rows = {
        f"neural selection, λ = {THRESHOLD}": selections.at_threshold,
        f"neural selection, {MEAN_SIZE} words": selections.neural,
        f"lexicon of gold alignments, k = {selections.k}": selections.lexicon,
        "the same head, each word on its own": selections.without_context,
    }
    say("\nOf the words that translate idioms, in the set" + " " * 6 + "found   mean size")
    for name, found in rows.items():
        say(f"  {name:<42}{found.recall:7.1%}   {found.mean_size:.0f} of {found.vocab_size}")


def mark_idiom(text: str, pair: Pair) -> str:
    """The text with the idiom's words in bold; unchanged where nobody sees it."""
    idiom = set(pair.idiom_words)
    words = text.split(" ")
    return " ".join(f"\033[1;32m{w}\033[0m" if _COLORS and w in idiom else w for w in words)


def bad(text: str) -> str:
    return f"\033[1;31m{text}\033[0m" if _COLORS else text


def say(text: str, end: str = "\n") -> None:
    print(text, end=end, flush=True)


if __name__ == "__main__":
    main()
