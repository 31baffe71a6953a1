"""Alignment lexicons: which target tokens go with each source token, from aligned text.

Sub-verbs: build, align, adapt, import, show; `sieve lexicon build --help` and so on.

Examples:
  sieve lexicon build corpus --output model
  sieve lexicon build corpus --aligner eflomal --train-pairs 300000 --output lexicon
  sieve lexicon build corpus --aligner pharaoh --links corpus.align --output model
  sieve lexicon build corpus --extra in-domain --upsample 10 --output model
  sieve lexicon align corpus --model model --output corpus.align
  sieve lexicon adapt model --pair in-domain.en in-domain.de --output adapted
  sieve lexicon import lex.s2t --format marian --tokenizer model --output model
  sieve lexicon show model house
"""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sieve.errors import InputError
from sieve.log import logger, renamed

if TYPE_CHECKING:
    from sieve.data.encoded_pairs import Block
    from sieve.selection.lexicon import Lexicon
    from sieve.tokenize.tokenizer import Tokenizers

_PHARAOH = "pharaoh"
_TOP = 10_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the sub-verbs of `sieve lexicon`."""
    verbs = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    _add_build(verbs.add_parser("build", help="align a prepared corpus and count"))
    _add_align(verbs.add_parser("align", help="take links from a model's cross-attention"))
    _add_adapt(verbs.add_parser("adapt", help="add in-domain text to a lexicon without realigning"))
    _add_import(verbs.add_parser("import", help="read a lexicon of another toolkit"))
    _add_export(verbs.add_parser("export"))  # the old name of sieve export, not listed
    show = verbs.add_parser("show", help="show the translations of a word, best first")
    show.add_argument("lexicon", type=Path, metavar="LEXICON", help="model or .safetensors")
    show.add_argument("word", metavar="WORD", help="word; its pieces are shown one by one")
    show.add_argument(
        "--top", type=int, default=10, help="translations shown (default: %(default)s)"
    )
    _add_tokenizer(show)


def execute(arguments: argparse.Namespace) -> None:
    """Runs one sub-verb."""
    actions = {
        "build": _build,
        "align": _align,
        "adapt": _adapt,
        "import": _import,
        "export": _export,
        "show": _show,
    }
    actions[arguments.action](arguments)


def _add_build(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("corpus", type=Path, metavar="CORPUS", help="prepared corpus")
    parser.add_argument(
        "--aligner",
        default="fast_align",
        help="fast_align, hmm, ibm4, eflomal, or pharaoh for a file of links "
        "(default: %(default)s)",
    )
    parser.add_argument("--links", type=Path, metavar="FILE", help="links for --aligner pharaoh")
    parser.add_argument(
        "--symmetrize",
        default="grow-diag-final-and",
        help="grow-diag-final-and, intersection, union or forward (default: %(default)s)",
    )
    parser.add_argument(
        "--train-pairs", type=int, metavar="N", help="train the aligner on N pairs, align all"
    )
    parser.add_argument(
        "--extra",
        type=Path,
        action="append",
        default=[],
        metavar="CORPUS",
        help="in-domain corpus, added to the aligner's training data as in the paper",
    )
    parser.add_argument(
        "--upsample", type=int, default=10, help="weight of --extra (default: %(default)s)"
    )
    parser.add_argument(
        "--by",
        choices=["count", "probability"],
        default="count",
        help="rank by counted links or by the aligner's probabilities (default: %(default)s)",
    )
    parser.add_argument("--keep-alignments", type=Path, metavar="FILE", help="Pharaoh format")
    _add_output(parser)


def _add_align(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", type=Path, required=True, metavar="DIR", help="model directory")
    _add_pairs(parser)
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE", help="Pharaoh format"
    )
    parser.add_argument(
        "--heads",
        choices=["auto", "guided", "average"],
        default="auto",
        help="the head trained with guided alignment, or all of the last layer (default: auto)",
    )
    parser.add_argument("--device", default="cpu", help="cpu or cuda (default: %(default)s)")


def _add_adapt(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Aligns the new text by the lexicon itself and adds its counts, upsampled: seconds. "
        "As in the paper, with the text in the training data of the aligner: "
        "sieve lexicon build CORPUS --extra NEW --upsample 10."
    )
    parser.add_argument("lexicon", type=Path, metavar="LEXICON", help="model or .safetensors")
    _add_pairs(parser)
    parser.add_argument(
        "--upsample", type=int, default=10, help="weight of the new text (default: %(default)s)"
    )
    _add_tokenizer(parser)
    _add_output(parser)


def _add_import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="lex.s2t, vmap.txt or .npy")
    _add_format(parser)
    parser.add_argument(
        "--tokenizer", type=Path, required=True, metavar="DIR", help="model or corpus directory"
    )
    _add_output(parser)


def _add_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lexicon", type=Path, metavar="LEXICON", help="model or .safetensors")
    _add_format(parser)
    parser.add_argument(
        "--top", type=int, default=200, help="translations per token (default: 200)"
    )
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE")
    _add_tokenizer(parser)


def _add_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", required=True, help="marian, ctranslate2 or sockeye")


def _add_tokenizer(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tokenizer", type=Path, metavar="DIR", help="tokenizers, if LEXICON is a single file"
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--top", type=int, default=_TOP, help="translations kept per token (default: %(default)s)"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="PATH",
        help="model directory, new directory (gets the tokenizers too) or .safetensors file",
    )


def _add_pairs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("corpus", type=Path, nargs="?", metavar="CORPUS", help="prepared corpus")
    parser.add_argument(
        "--pair", type=Path, nargs=2, metavar=("SRC", "TGT"), help="or two text files"
    )


def _build(arguments: argparse.Namespace) -> None:
    from sieve.data.corpus import Corpus
    from sieve.selection.aligners.align_corpus import AlignOptions
    from sieve.selection.aligners.named_aligners import check_aligner
    from sieve.selection.build import CountOptions, build_lexicon, count_alignments
    from sieve.selection.lexicon_files import save_with_tokenizers

    check_aligner(arguments.aligner, (_PHARAOH,))
    count = CountOptions(arguments.by, arguments.top, arguments.keep_alignments)
    corpus = Corpus.open(arguments.corpus)
    if (arguments.aligner == _PHARAOH) != (arguments.links is not None):
        raise InputError(
            "--aligner pharaoh requires --links FILE, and --links requires --aligner pharaoh"
        )
    if arguments.links is not None:
        lexicon = count_alignments(corpus, arguments.links, count)
    else:
        options = AlignOptions(arguments.aligner, arguments.symmetrize, arguments.train_pairs)
        extra = [(str(path), arguments.upsample) for path in arguments.extra]
        lexicon = build_lexicon([(str(arguments.corpus), 1), *extra], options, count)
    save_with_tokenizers(lexicon, arguments.output, corpus.tokenizers())


def _align(arguments: argparse.Namespace) -> None:
    from sieve.bundle.directory import open_bundle
    from sieve.data.alignments import pharaoh_lines
    from sieve.errors import require
    from sieve.files import whole_file
    from sieve.importers.opening import model_directory

    model = model_directory(arguments.model)
    bundle = open_bundle(model)
    pairs = _pairs(arguments, bundle.tokenizers())
    heads = arguments.heads
    if heads == "auto":
        heads = "guided" if _was_guided(bundle.config) else "average"
        logger.info("heads: %s", heads)
    require("torch", "train", "aligning with a model")
    from sieve.engines.torch.attention_alignment import AttentionAligner
    from sieve.model.checkpoint import load_model

    aligner = AttentionAligner(load_model(model, arguments.device), heads)
    with whole_file(arguments.output) as partial, partial.open("w", encoding="ascii") as file:
        for src, tgt in pairs:
            file.writelines(pharaoh_lines(aligner.align(src, tgt)))


def _was_guided(config: Mapping[str, Any]) -> bool:
    """Whether the model was trained with guided alignment, as its configuration tells."""
    run = config.get("training", {})  # the whole settings of the run, in sections
    return float(run.get("training", {}).get("alignment_weight", 0.0)) > 0.0


def _adapt(arguments: argparse.Namespace) -> None:
    from sieve.selection.build import adapt_lexicon
    from sieve.selection.lexicon_files import save_with_tokenizers

    lexicon, tokenizers = _open(arguments)
    pairs = _pairs(arguments, tokenizers)
    adapted = adapt_lexicon(lexicon, pairs, arguments.upsample, arguments.top)
    save_with_tokenizers(adapted, arguments.output, tokenizers)


def _import(arguments: argparse.Namespace) -> None:
    from sieve.importers.opening import model_directory
    from sieve.selection.exchange import read_lexicon
    from sieve.selection.lexicon_files import save_with_tokenizers
    from sieve.tokenize.tokenizer import load_tokenizers

    tokenizers = load_tokenizers(model_directory(arguments.tokenizer))
    lexicon, tally = read_lexicon(arguments.file, arguments.format, tokenizers)
    logger.info("%s: %s", arguments.file, tally)
    save_with_tokenizers(lexicon.pruned(arguments.top), arguments.output, tokenizers)


def _export(arguments: argparse.Namespace) -> None:
    from sieve.cli.export import write

    renamed("sieve lexicon export", "sieve export")
    lexicon, tokenizers = _open(arguments)
    write(arguments.output, arguments.format, lexicon, tokenizers, arguments.top)


def _show(arguments: argparse.Namespace) -> None:
    lexicon, tokenizers = _open(arguments)
    ids = tokenizers.source.encode([arguments.word])[0]
    if not ids:
        raise InputError(f"got '{arguments.word}', expected a word")
    for src_id in ids:
        targets, shares = lexicon.row(src_id)
        print(f"{tokenizers.source.piece(src_id)}  ({int(lexicon.source_counts[src_id])} links)")
        for target, share in zip(targets[: arguments.top], shares, strict=False):
            print(f"  {share:8.4f}  {tokenizers.target.piece(int(target))}")


def _open(arguments: argparse.Namespace) -> "tuple[Lexicon, Tokenizers]":
    from sieve.bundle.directory import LEXICON_FILE
    from sieve.importers.opening import model_directory
    from sieve.selection.lexicon_files import open_with_tokenizers

    path = arguments.lexicon
    if not path.is_file() and not (path / LEXICON_FILE).is_file():  # a model, then
        path = model_directory(path)
    return open_with_tokenizers(path, arguments.tokenizer)


def _pairs(arguments: argparse.Namespace, tokenizers: "Tokenizers") -> "Iterator[Block]":
    """The sentence pairs of a corpus or of two text files."""
    from sieve.data.encoded_pairs import corpus_pairs, text_pairs
    from sieve.data.reading import PairFiles

    if (arguments.corpus is None) == (arguments.pair is None):
        raise InputError("expected either a prepared CORPUS or --pair SRC TGT")
    if arguments.pair is not None:
        return text_pairs(PairFiles(*arguments.pair), tokenizers)
    return corpus_pairs(arguments.corpus, tokenizers)
