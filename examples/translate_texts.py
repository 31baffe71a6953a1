"""The Python API: open a model, translate, and see what a translation says about itself.

python examples/translate_texts.py [MODEL]
"""

import argparse

import sieve


def main() -> None:
    """Translates a few sentences."""
    parser = argparse.ArgumentParser(description="Translates a few sentences.")
    parser.add_argument("model", nargs="?", default="en-de", help="built-in name or directory")
    with sieve.load(parser.parse_args().model) as translator:
        # A text in, a translation out. It prints as its text.
        print(translator.translate("The meeting begins at 9 o'clock on Monday."))

        # A list in, a list out, whatever is in it.
        texts = ["Press <Enter> to continue.", "", "I have read the report."]
        for translation in translator.translate(texts):
            print(
                f"{translation}\t{translation.shortlist_size} of {translation.vocab_size} tokens, "
                f"confidence {translation.confidence}, warnings {translation.warnings}"
            )

        # A generator in, a generator out: nothing is kept, so the text may be endless.
        for translation in translator.translate(text for text in ("Thank you!", "Good night!")):
            print(translation)

        # Terms that may be used whatever is selected, and a search over all tokens.
        terms = sieve.Glossary((("report", "Lagebericht"),))
        print(translator.translate("I have read the report.", glossary=terms))
        print(translator.translate("I have read the report.", selection="none").to_json())


if __name__ == "__main__":
    main()
