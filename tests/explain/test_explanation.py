"""Explanations of a model with random weights, against what the engine says."""

import math
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from directories import write_model
from toy_lexicon import random_lexicon

from sieve.engines.options import SearchOptions
from sieve.errors import InputError
from sieve.explain.explanation import ExplainOptions, explain
from sieve.explain.explanation_page import as_html
from sieve.selection.fusion import Fusion
from sieve.tokenize.vocabulary import EOS
from sieve.tokenize.words import END
from sieve.translate.load import load
from sieve.translate.translator import Translator

SOURCE = "bda <b>& fga"
OPTIONS = ExplainOptions(("nvs:0.6", "lexicon:3"), "FGA <i>BDA", 3, SearchOptions(beam_size=2))


def opened(toy_data: Any, factory: pytest.TempPathFactory, **changes: Any) -> Translator:
    directory = factory.mktemp("explained") / "xx-yy"
    config, _ = write_model(directory, toy_data.corpus, **changes)
    random_lexicon(config.src_vocab_size).save(directory)
    return load(directory)


@pytest.fixture(scope="module")
def translator(toy_data: Any, tmp_path_factory: pytest.TempPathFactory) -> Translator:
    return opened(toy_data, tmp_path_factory)


def test_systems_and_tokens(translator: Translator) -> None:
    found = explain(translator, SOURCE, OPTIONS)
    assert [system.selection for system in found.systems] == ["none", "nvs:0.6", "lexicon:3"]
    tokenizers = translator.tokenizers
    src_ids = np.array([*tokenizers.source.encode([SOURCE])[0], EOS])
    encoded = translator.engine.encode([src_ids])
    (logits,) = translator.engine.bow_logits(encoded)
    output, reference = found.texts
    assert (output.label, reference.label) == ("unrestricted output", "reference")
    ids = tokenizers.target.encode([OPTIONS.reference])[0]
    assert [token.piece for token in reference.tokens] == [tokenizers.target.piece(i) for i in ids]
    for system in found.systems:
        (words,) = translator.selector(system.selection).plan().select(encoded)
        assert system.size == len(words)
        expected = translator.translate(SOURCE, selection=system.selection, beam_size=2)
        assert system.translation == expected.text
        for index, token in zip(ids, reference.tokens, strict=True):
            assert (system.selection in token.missing) == (index not in words)
    for index, token in zip(ids, reference.tokens, strict=True):
        assert token.probability == pytest.approx(1 / (1 + np.exp(-logits[index])), abs=1e-5)


def test_each_selected_word_has_one_voter(translator: Translator) -> None:
    options = ExplainOptions(("nvs:0.6",), top=10_000)
    found = explain(translator, SOURCE, options)
    assert found.threshold == 0.6
    assert found.words[-1].text == END
    assert "".join(word.text for word in found.words[:-1]) == SOURCE.replace(" ", "")
    votes = [vote for word in found.words for vote in word.votes]
    assert all(vote.probability > 0.6 for vote in votes)
    pieces = [vote.piece for vote in votes]
    assert len(set(pieces)) == len(pieces) == sum(word.number for word in found.words)
    size = found.systems[1].size
    assert size - 1 <= len(pieces) <= size  # EOS is selected, voted for or not
    for word in found.words:
        values = [vote.probability for vote in word.votes]
        assert values == sorted(values, reverse=True)


@pytest.mark.parametrize(
    ("selections", "threshold"),
    [(("none",), 0.4), (("nvs:0.7", "nvs:0.4"), 0.4), (("nvs:0.7", "nvs:0.6"), 0.7)],
)
def test_whose_votes(translator: Translator, selections: tuple[str, ...], threshold: float) -> None:
    found = explain(translator, SOURCE, ExplainOptions(selections, top=1))
    assert found.threshold == threshold
    assert all(len(word.votes) <= 1 for word in found.words)


def test_shares_of_head_and_lexicon(translator: Translator) -> None:
    model = replace(
        translator, resources=replace(translator.resources, fusion=Fusion((1, 3), (4.0, 1.5)))
    )
    options = replace(OPTIONS, selections=("fused:0.6+safe", "none"), top=10_000)
    explanation = explain(model, SOURCE, options)
    plain = explain(model, SOURCE, replace(options, selections=("nvs:0.6",)))
    assert explanation.threshold == plain.threshold == 0.6
    assert all(token.lexicon is None for text in plain.texts for token in text.tokens)
    lexicon, target = model.resources.need_lexicon(""), model.tokenizers.target
    source_ids = model.tokenizers.source.encode([SOURCE])[0]
    lists = [lexicon.row(index)[0].tolist() for index in [*source_ids, EOS]]
    pieces = {target.piece(index): index for index in range(target.vocab_size)}
    for text, other in zip(explanation.texts, plain.texts, strict=True):
        for token, alone in zip(text.tokens, other.tokens, strict=True):
            assert (token.probability, token.voter) == (alone.probability, alone.voter)
            index = pieces[token.piece]
            ranks = [words.index(index) + 1 for words in lists if index in words[:3]]
            assert (token.lexicon is None) == (not ranks)
            if token.lexicon:
                assert token.lexicon.rank == min(ranks)
                assert token.lexicon.log_odds == (4.0 if min(ranks) == 1 else 1.5)
    head = {vote.piece: vote.probability for word in plain.words for vote in word.votes}
    votes = [vote for word in explanation.words for vote in word.votes]
    assert {vote.bonus for vote in votes} == {0.0, 1.5, 4.0}
    for vote in votes:
        odds = vote.probability / (1 - vote.probability) / math.exp(vote.bonus)
        if vote.piece in head:
            assert odds == pytest.approx(head[vote.piece] / (1 - head[vote.piece]), rel=1e-4)
        else:
            assert odds <= 1.5 * (1 + 1e-6)  # λ 0.6: the head alone would not have chosen it
    page = as_html(explanation)
    assert "by the lexicon: " in page
    assert "(+4.0)" in page


def test_what_the_lexicon_does_not_propose(translator: Translator) -> None:
    options = replace(OPTIONS, selections=("among:2:0.4", "none"), top=10_000)
    explanation = explain(translator, SOURCE, options)
    lexicon, target = translator.resources.need_lexicon(""), translator.tokenizers.target
    source_ids = [*translator.tokenizers.source.encode([SOURCE])[0], EOS]
    frequent = np.argsort(-lexicon.target_counts, kind="stable")[:2].tolist()
    proposed = {*frequent, *lexicon.top_k(source_ids, 2).tolist()}
    pieces = {target.piece(index) for index in proposed}
    votes = {vote.piece for word in explanation.words for vote in word.votes}
    assert votes and votes <= pieces
    tokens = [token for text in explanation.texts for token in text.tokens]
    assert [token.proposed for token in tokens] == [token.piece in pieces for token in tokens]
    assert not all(token.proposed for token in tokens)
    assert "not proposed by the lexicon" in as_html(explanation)


def test_without_a_head(toy_data: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    model = opened(toy_data, tmp_path_factory, nvs_head="none")
    found = explain(model, "bda", ExplainOptions(("lexicon:2",), "BDA"))
    assert (found.threshold, found.words) == (None, ())
    assert found.texts[1].tokens[0].probability is None
    assert "voted" not in as_html(found)


def test_page(translator: Translator) -> None:
    page = as_html(explain(translator, SOURCE, OPTIONS))
    assert "<b>&" not in page and "bda &lt;b&gt;&amp; fga" in page
    assert "http" not in page and "<script" not in page
    open_tags: list[str] = []

    class Balanced(HTMLParser):
        def handle_starttag(self, tag: str, attrs: Any) -> None:
            if tag != "meta":
                open_tags.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert open_tags.pop() == tag

    Balanced().feed(page)
    assert open_tags == []


def test_nothing_to_explain(translator: Translator) -> None:
    with pytest.raises(InputError, match="the sentence is empty, expected one to explain"):
        explain(translator, "  ", OPTIONS)
