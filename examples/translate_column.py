"""A column of a table with pandas: translations that need a second look come first.

pip install pandas
python examples/translate_column.py reviews.csv --column review --output reviews.de.csv
"""

import argparse

import pandas

import sieve


def main() -> None:
    """Adds a translation, its confidence and its warnings to a table."""
    parser = argparse.ArgumentParser(description="Translates a column of a CSV file.")
    parser.add_argument("table")
    parser.add_argument("--column", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--model", default="en-de", help="built-in name or directory")
    options = parser.parse_args()

    frame = pandas.read_csv(options.table)
    with sieve.load(options.model) as translator:
        # A Series in, a Series out, with the same index; empty cells stay empty.
        translations = translator.translate(frame[options.column])
    known = translations.dropna()
    frame["translation"] = known.map(str)
    frame["confidence"] = known.map(lambda translation: translation.confidence)
    frame["warnings"] = known.map(lambda translation: "; ".join(translation.warnings))
    # What could not be kept first, then what selection is most likely to have changed.
    frame["flagged"] = frame["warnings"].fillna("").ne("")
    frame = frame.sort_values(["flagged", "confidence"], ascending=[False, True])
    frame.drop(columns="flagged").to_csv(options.output, index=False)
    print(f"{len(known)} of {len(frame)} cells translated, {frame['flagged'].sum()} with warnings")


if __name__ == "__main__":
    main()
