"""Pages of documents before and after translation, as LibreOffice renders them.

    python benchmarks/document_pages.py en-de --files DIRECTORY… [--keep DIRECTORY]

Needs soffice and pdfinfo (Debian: libreoffice-writer-nogui, -calc-nogui, -impress-nogui,
poppler-utils). A document that LibreOffice cannot open has no pages. Writes
docs/results/document_pages.json.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import sieve
from sieve.documents import translate_file
from sieve.errors import SieveError
from sieve.files import write_json

ROOT = Path(__file__).parents[1]
KINDS = (".docx", ".odt", ".pptx", ".xlsx")
SECONDS = 600


def rendered(directory: Path) -> dict[str, int]:
    """The number of pages of each document in a directory."""
    files = sorted(path for path in directory.iterdir() if path.suffix in KINDS)
    profile = f"-env:UserInstallation={(directory / 'profile').as_uri()}"
    command = ["soffice", profile, "--headless", "--convert-to", "pdf", "--outdir", str(directory)]
    subprocess.run([*command, *map(str, files)], capture_output=True, timeout=SECONDS, check=True)
    return {path.name: pages(path.with_suffix(".pdf")) for path in files}


def pages(path: Path) -> int:
    if not path.exists():
        return 0
    done = subprocess.run(["pdfinfo", str(path)], capture_output=True, text=True, check=True)
    found = re.search(r"^Pages:\s*(\d+)", done.stdout, re.MULTILINE)
    return int(found[1]) if found else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--files", type=Path, nargs="+", required=True, metavar="DIRECTORY")
    parser.add_argument("--keep", type=Path, help="where the documents and their PDF files stay")
    parser.add_argument(
        "--output", type=Path, default=ROOT / "docs" / "results" / "document_pages.json"
    )
    arguments = parser.parse_args()
    if not shutil.which("soffice") or not shutil.which("pdfinfo"):
        sys.exit("skipped: needs soffice and pdfinfo")
    translator = sieve.load(arguments.model)
    with tempfile.TemporaryDirectory() as scratch:
        root = arguments.keep or Path(scratch)
        before, after = root / "before", root / "after"
        for directory in (before, after):
            directory.mkdir(parents=True, exist_ok=True)
        for path in (path for folder in arguments.files for path in sorted(folder.iterdir())):
            if path.suffix in KINDS:
                try:
                    translate_file(translator, path, after / path.name)
                    shutil.copy(path, before / path.name)
                except SieveError as error:
                    print(error)
        first, second = rendered(before), rendered(after)
    moved = [abs(first[name] - second[name]) for name in first]
    kinds = {kind[1:]: sum(name.endswith(kind) for name in first) for kind in KINDS}
    results = {
        "command": f"python benchmarks/document_pages.py {Path(arguments.model).name} --files …",
        "documents": len(first),
        **kinds,
        "opened_before": sum(map(bool, first.values())),
        "opened_after": sum(map(bool, second.values())),
        "same_pages": sum(pages == 0 for pages in moved),
        "within_one_page": sum(pages <= 1 for pages in moved),
    }
    print(results)
    write_json(arguments.output, results)


if __name__ == "__main__":
    main()
