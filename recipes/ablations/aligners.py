"""Table 1: which aligner makes the best lexicon? The same pairs through each of them, on a CPU.

    python recipes/ablations/aligners.py CORPUS MODEL --test newstest2019.en-de --work work/aligners

CORPUS is what `sieve prepare` made with MODEL's tokenizers. Lexicons go to --work and are not built
again; the comparison is aligners.json there. 40,000 pairs take fast_align half a minute, HMM and
eflomal ten and IBM-4 far more.
"""

import argparse
from pathlib import Path

from verbs import once, sieve

ALIGNERS = ("fast_align", "hmm", "ibm4", "eflomal", "attention")


def lexicon(aligner: str, args: argparse.Namespace) -> Path:
    """The lexicon of one aligner, built once."""
    made: Path = args.work / aligner
    if aligner != "attention":
        return once(made, "lexicon", "build", args.corpus, "--aligner", aligner, "--output", made)
    links = args.work / "attention.align"
    once(
        links, "lexicon", "align", args.corpus, "--model", args.model, "--heads", args.heads,
        "--output", links,
    )  # fmt: skip
    return once(
        made, "lexicon", "build", args.corpus, "--aligner", "pharaoh", "--links", links,
        "--output", made,
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--test", required=True, help="as in sieve evaluate")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--aligners", nargs="+", choices=ALIGNERS, default=list(ALIGNERS))
    parser.add_argument("--heads", default="auto", help="guided: of a model trained with it")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    lexicons = [f"{aligner}={lexicon(aligner, args)}" for aligner in args.aligners]
    sieve(
        "evaluate", args.model, "--aligners", *lexicons, "--test", args.test,
        "--latency-sentences", 0, "--json", args.work / "aligners.json",
    )  # fmt: skip


if __name__ == "__main__":
    main()
