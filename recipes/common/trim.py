"""A finished model's config.json without the lists of files that a run was given.

    python recipes/common/trim.py MODEL

What ships says how it was trained, not where files lay; and it must fit 12 MiB as a whole.
"""

import sys
from pathlib import Path
from typing import Any

from sieve.files import read_json, write_json

LIMIT = 12 * 2**20


def trimmed(config: dict[str, Any]) -> dict[str, Any]:
    training = dict(config.get("training", {}))
    for key in ("data", "init_from"):
        training.pop(key, None)
    return {**config, "training": training}


def main() -> None:
    model = Path(sys.argv[1])
    path = model / "config.json"
    write_json(path, trimmed(read_json(path)))
    size = sum(file.stat().st_size for file in model.iterdir())
    print(f"{model}: {size:,} bytes, {LIMIT - size:,} below 12 MiB")
    if size > LIMIT:
        raise SystemExit(f"{model}: {size:,} bytes, expected at most {LIMIT:,}")


if __name__ == "__main__":
    main()
