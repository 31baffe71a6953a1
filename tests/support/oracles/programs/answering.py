"""The loop of every program here: a JSON line with lines of text in, a JSON line with answers out.

Runs in the peers' environments, so it needs nothing but Python 3.10.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

Answer = dict[str, Any]


def settings() -> dict[str, Any]:
    """What the program was told."""
    told: dict[str, Any] = json.loads(sys.argv[1])
    return told


def serve(answer: Callable[[list[str]], list[Answer]]) -> None:
    """Answers until the input ends; what a peer prints itself goes to the standard error."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        lines = json.loads(line)["lines"]
        begin = time.perf_counter()
        try:
            answers = answer(lines)
            reply = {"answers": answers, "seconds": time.perf_counter() - begin}
        except Exception as error:  # the other side wants a sentence, not a traceback
            reply = {"error": f"{type(error).__name__}: {error}"}
        out.write(json.dumps(reply) + "\n")
        out.flush()
