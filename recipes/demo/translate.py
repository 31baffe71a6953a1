"""Translates with the built-in models and shows what selection did: make demo."""

import time

import sieve
from sieve.translate.translator import Translator

SENTENCES = {
    "en-de": [
        "Make yourself at home!",
        "The cabinet met on Tuesday to discuss the new law.",
        "Send the report to anna@example.com before 10:45.",
        "It was a piece of cake.",
        "WHERE IS MY COFFEE? ☕",
    ],
    "de-en": [
        "Guten Morgen, wie geht es Ihnen?",
        "Die Regierung hat gestern ein neues Gesetz beschlossen.",
        "Wir treffen uns am Montag vor dem Bahnhof.",
    ],
}
REPEATS = 5


def milliseconds(translator: Translator, text: str, selection: str) -> float:
    """The fastest of several runs, which other processes disturb least."""
    taken = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        translator.translate(text, selection=selection)
        taken.append(time.perf_counter() - begin)
    return 1000 * min(taken)


def main() -> None:
    """Runs the demonstration."""
    for name, sentences in SENTENCES.items():
        translator = sieve.load(name, threads=1)
        print(f"{name}: {translator.engine}\n")
        for text in sentences:
            full = translator.translate(text, selection="none")
            selected = translator.translate(text)
            share = selected.shortlist_size / selected.vocab_size
            same = "the same" if selected.text == full.text else f"different: {full.text}"
            print(f"  source       {text}")
            print(f"  translation  {selected.text}")
            print(
                f"  selection    {selected.shortlist_size} of {selected.vocab_size} tokens "
                f"({share:.1%}), {milliseconds(translator, text, 'nvs'):.1f} ms"
            )
            print(f"  all tokens   {same}, {milliseconds(translator, text, 'none'):.1f} ms\n")
    print("See which source word voted for which output token:")
    print('  .venv/bin/sieve explain en-de "Make yourself at home!"')


if __name__ == "__main__":
    main()
