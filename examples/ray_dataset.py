"""A Ray dataset with a translated column: each actor opens the model once, a bad row stays a row.

pip install 'sieve-nmt[ray]'
python examples/ray_dataset.py reviews.jsonl --column review --output translated
"""

import argparse

import ray

from sieve.ray import Translate


def main() -> None:
    """Translates a column of JSON lines and writes Parquet."""
    parser = argparse.ArgumentParser(description="Translates a column of a Ray dataset.")
    parser.add_argument("table", help="JSON lines: a path, a directory or s3://…")
    parser.add_argument("--column", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--model", default="en-de", help="built-in name or directory")
    parser.add_argument("--actors", type=int, default=2, help="a core each")
    parser.add_argument("--address", default="local", help="of a cluster; auto: this node's")
    options = parser.parse_args()

    ray.init(options.address)
    dataset = ray.data.read_json(options.table, lines=True).map_batches(
        Translate,
        fn_constructor_args=(options.model, options.column),
        num_cpus=1,
        batch_size=1024,
        batch_format="pyarrow",  # columns keep their types, and missing texts stay missing
        compute=ray.data.ActorPoolStrategy(size=options.actors),
    )
    # NAME_translation, NAME_score, NAME_shortlist_size, NAME_confidence and NAME_error are there
    dataset.write_parquet(options.output)
    bad = ray.data.read_parquet(options.output).filter(
        lambda row: row[f"{options.column}_error"] is not None
    )
    for row in bad.take(10):
        print(row[f"{options.column}_error"], row)


if __name__ == "__main__":
    main()
