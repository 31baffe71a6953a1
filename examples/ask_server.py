"""A client of `sieve serve` that needs nothing but Python.

sieve serve &
python examples/ask_server.py "Good morning." [--server http://127.0.0.1:5000]
"""

import argparse
import json
import sys
import urllib.error
import urllib.request
from typing import Any


def ask(address: str, question: dict[str, Any]) -> Any:
    """The server's answer. An error of the request has a sentence that says what is wrong."""
    request = urllib.request.Request(
        address, json.dumps(question).encode(), {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        raise SystemExit(f"{error.code}: {json.load(error)['error']}") from error
    except urllib.error.URLError as error:
        raise SystemExit(f"{address}: {error.reason}; start `sieve serve` first") from error


def main() -> None:
    """Asks for a translation, and for what selection did."""
    parser = argparse.ArgumentParser(description="Translates with a running server.")
    parser.add_argument("text", nargs="+")
    parser.add_argument("--server", default="http://127.0.0.1:5000")
    parser.add_argument("--source", default="en")
    parser.add_argument("--target", default="de")
    options = parser.parse_args()
    pair = {"source": options.source, "target": options.target}

    # LibreTranslate's API: its clients work unchanged
    answer = ask(f"{options.server}/translate", {"q": options.text, **pair})
    for text in answer["translatedText"]:
        print(text)

    # our own: what each translation was chosen from
    answer = ask(f"{options.server}/v1/translate", {"texts": options.text, **pair})
    for translation in answer["translations"]:
        size, all_tokens = translation["set_size"], answer["vocabulary_size"]
        print(f"{size} of {all_tokens} tokens, score {translation['score']:.2f}", file=sys.stderr)


if __name__ == "__main__":
    main()
