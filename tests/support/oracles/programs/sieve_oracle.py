"""Sieve as a peer of itself, in a process of its own: int8 on one thread, repairs left out."""

from answering import Answer, serve, settings

from sieve.translate.load import load


def main() -> None:
    """Answers with text, and how many words each search could choose from."""
    told = settings()
    translator = load(told["model"], threads=1)

    def answer(lines: list[str]) -> list[Answer]:
        translations = translator.translate(
            lines, selection=told["selection"], beam_size=told["beam"], repair=False
        )
        return [{"text": one.text, "words": one.shortlist_size} for one in translations]

    serve(answer)


main()
