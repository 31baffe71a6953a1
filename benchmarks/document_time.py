"""A document of 200 pages beside the same text as lines: CPU time, and memory by length.

    python benchmarks/document_time.py en-de --text ../shared/data/test/newstest2018.en-de.en …

Lines of news become a Word document, five to a paragraph, a word of every paragraph in bold; and a
text of a line each. Both go through `sieve translate` in processes of their own. CPU time counts,
not the clock: other work on the machine does not change it much. Writes document_time.json.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from packages import runs, word  # noqa: E402

from sieve.files import write_json  # noqa: E402

PAGE_WORDS = 500


def document(lines: list[str]) -> bytes:
    paragraphs = []
    for start in range(0, len(lines), 5):
        first, middle, *rest = " ".join(lines[start : start + 5]).split(" ")
        texts = (escape(text) for text in (f"{first} ", f"b:{middle}", " " + " ".join(rest)))
        paragraphs.append(f"<w:p>{runs(*texts)}</w:p>")
    return word("".join(paragraphs))


def measured(model: str, source: Path) -> dict[str, float]:
    """CPU seconds and peak memory of a process that translates a file."""
    target = source.with_name(f"out{source.suffix}")
    command = [sys.executable, "-m", "sieve.cli", "translate", model, "--input", str(source),
               "--output", str(target)]  # fmt: skip
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return {
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 2),
        "peak_mib": round(usage.ru_maxrss / 1024, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--text", type=Path, nargs="+", required=True)
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument(
        "--output", type=Path, default=ROOT / "docs" / "results" / "document_time.json"
    )
    arguments = parser.parse_args()
    lines = [line for path in arguments.text for line in path.read_text("utf-8").splitlines()]
    words, kept = 0, list[str]()
    for line in lines:
        if words >= arguments.pages * PAGE_WORDS:
            break
        words += len(line.split())
        kept.append(line)
    results: dict[str, Any] = {
        "pages": round(words / PAGE_WORDS),
        "words": words,
        "lines": len(kept),
    }
    with tempfile.TemporaryDirectory() as scratch:
        tenth = kept[: len(kept) // 10]
        for name, suffix, data in (
            ("document", ".docx", document(kept)),
            ("text", ".txt", ("\n".join(kept) + "\n").encode()),
            ("document_of_a_tenth", ".docx", document(tenth)),
        ):
            source = Path(scratch) / f"in{suffix}"
            source.write_bytes(data)
            results[name] = measured(arguments.model, source)
            print(name, results[name], flush=True)
            (Path(scratch) / f"out{suffix}").unlink()
    ratio = results["document"]["cpu_seconds"] / results["text"]["cpu_seconds"]
    results["document_to_text"] = round(ratio, 3)
    print(results["document_to_text"])
    write_json(arguments.output, results)


if __name__ == "__main__":
    main()
