"""Models of several target languages: the tag of the one that is wanted, before every sentence."""

from dataclasses import replace

from sieve.importers.foreign_model import ForeignModel
from sieve.log import logger
from sieve.tokenize.imported import ImportedTokenizer
from sieve.tokenize.language_tags import shown, tag_for
from sieve.tokenize.tokenizer import Tokenizers


def with_target(model: ForeignModel, language: str, where: str) -> ForeignModel:
    """The model with the tag of its target language; as it is where it has no tags.

    Args:
        model: Of any family.
        language: That it translates into; nothing where that is not known.
        where: Its name, for the warning.
    """
    source = model.tokenizers.source
    if not source.tags or not isinstance(source, ImportedTokenizer):
        return model
    tag = tag_for(language, source.tags)
    index = None if tag is None else source.piece_id(tag)
    if index is None:
        logger.warning(
            "%s: translates into several languages: begin each line with %s, or give --languages",
            where,
            shown(source.tags),
        )
        return model
    tokenizers = Tokenizers(source.prefixed((index,)), model.tokenizers.target)
    config = replace(model.config, source_prefix=(index,))
    return replace(model, config=config, tokenizers=tokenizers)
