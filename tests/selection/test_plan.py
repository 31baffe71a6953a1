"""What a plan says: unions, words added and excluded, and words only an engine can name."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sieve.selection.bonus import Bonus, Bonuses, among_candidates, with_bonuses
from sieve.selection.plan import LONG, Cuts, Plan, Selector, Votes
from sieve.selection.selectors import Adjusted, FullVocabulary, NeuralSelection, Union
from sieve.selection.shortlist import Shortlist, ShortlistArray, shortlists_above
from sieve.tokenize.vocabulary import IntArray, Specials

V, EOS = 20, 1
MODEL = Specials(pad=0, start=None, eos=EOS, unk=None)
IDS = st.lists(st.integers(0, V - 1), max_size=6)


@dataclass(frozen=True)
class Encoded:
    """Two sentences; the head's logit of word w is w - 10 in the first, 10 - w in the second."""

    src_ids: Sequence[IntArray] = (np.array([5, EOS]), np.array([6, EOS]))
    vocab_size: int = V
    specials: Specials = MODEL

    def tokens_above(
        self,
        cuts: Cuts,
        least: int = 0,
        bonuses: Sequence[Bonus] = (),
        candidates: Sequence[ShortlistArray] = (),
    ) -> list[Shortlist]:
        words = np.arange(V, dtype=np.float32)
        logits = with_bonuses(np.stack((words - 10, 10 - words)), bonuses)
        logits = among_candidates(logits, candidates)
        return shortlists_above(logits, cuts, least, EOS)


def fixed(*words: int) -> Plan:
    return Plan(lists=(lambda src_ids: [words] * len(src_ids),))


def copied() -> Plan:
    return Plan(lists=(lambda src_ids: [ids[:1] for ids in src_ids],))


def selected(plan: Plan) -> list[list[int]]:
    return [one.ids.tolist() for one in plan.select(Encoded())]


def test_votes_and_lists_add_up() -> None:
    both = Plan(votes=Votes(6.5)).joined(copied()).joined(fixed(12))
    assert selected(both) == [[EOS, 5, 12, 17, 18, 19], [0, EOS, 2, 3, 6, 12]]
    assert [ids.tolist() for ids in both.listed(Encoded().src_ids, EOS) or []] == [
        [EOS, 5, 12],
        [EOS, 6, 12],
    ]


def test_full_shortlists_are_all_tokens_and_cost_no_list() -> None:
    every = Shortlist.everything(V, EOS)
    assert Plan.given([every, every]) == Plan(everything=True)
    mixed = Plan.given([every, Shortlist.of([5], EOS)])
    assert selected(mixed) == [list(range(V)), [EOS, 5]]
    assert Plan.given([]).select(Encoded(src_ids=())) == []


def favouring(word: int, value: float) -> Bonuses:
    bonus = Bonus(np.array([word], np.int32), np.array([value], np.float32))
    return lambda src_ids: [bonus] * len(src_ids)


def test_a_bonus_is_added_before_the_threshold_and_the_minimum() -> None:
    by_two, by_one = favouring(15, 2.0), favouring(15, 1.0)
    # 15 has logit 5 in the first sentence, 1 below the threshold, and -5 in the second
    assert selected(Plan(votes=Votes(6.0, bonuses=by_two))) == [[EOS, 15, 17, 18, 19], [0, 1, 2, 3]]
    assert selected(Plan(votes=Votes(6.0, bonuses=by_one))) == selected(Plan(votes=Votes(6.0)))
    assert selected(Plan(votes=Votes(99.0, 1, favouring(15, 5.0)))) == [[EOS, 15], [0, EOS]]


def test_votes_with_different_bonuses_are_counted_apart() -> None:
    fused, plain = Plan(votes=Votes(6.0, bonuses=favouring(15, 2.0))), Plan(votes=Votes(8.0))
    both = fused.joined(plain)
    assert both.votes == fused.votes
    assert selected(both) == [[EOS, 15, 17, 18, 19], [0, 1, 2, 3]]
    assert selected(plain.joined(fused)) == selected(both)
    assert selected(both.adjusted((4,), (15,))) == [[EOS, 4, 17, 18, 19], [0, 1, 2, 3, 4]]
    same = Votes(8.0, 2, fused.votes.bonuses if fused.votes else None)
    joined = fused.joined(Plan(votes=same))
    assert (joined.votes, joined.asked) == (Votes(6.0, 2, same.bonuses), ())


def test_the_models_own_eos_belongs_to_every_shortlist() -> None:
    assert selected(Plan()) == [[EOS]] * 2
    assert selected(fixed(7).adjusted((), (EOS, 7))) == [[EOS]] * 2
    assert 2 not in selected(Plan(votes=Votes(8.5)))[0]
    assert EOS in selected(Plan(everything=True).adjusted((), (EOS, 4)))[1]


def test_two_heads_select_what_either_would() -> None:
    both = Plan(votes=Votes(8.5, 3)).joined(Plan(votes=Votes(7.5)))
    assert both.votes == Votes(7.5, 3)
    assert selected(both)[0] == [EOS, 17, 18, 19]


def test_the_threshold_falls_for_each_token_of_a_long_sentence() -> None:
    lengths = (1, LONG, LONG + 1, LONG + 4)
    source = [np.full(length, EOS) for length in lengths]
    assert Votes(8.0, fall=0.5).cuts(source).tolist() == [8.0, 8.0, 7.5, 6.0]
    assert Votes(8.0).cuts(source).tolist() == [8.0] * 4
    assert Votes(-np.inf, fall=0.5).cuts(source).tolist() == [-np.inf] * 4
    long = Encoded(src_ids=(source[0], source[3]))  # 10 - w in the second: 6 lets four words in
    tokens = Plan(votes=Votes(6.5, fall=0.25)).select(long)
    assert [one.ids.tolist() for one in tokens] == [[EOS, 17, 18, 19], [0, 1, 2, 3, 4]]


def test_votes_of_another_fall_are_counted_apart() -> None:
    falling, level = Plan(votes=Votes(8.5, fall=0.5)), Plan(votes=Votes(7.5))
    both = level.joined(falling)
    assert both.votes == level.votes
    long = Encoded(src_ids=(np.full(LONG + 4, EOS), np.full(LONG, EOS)))
    assert [one.ids.tolist() for one in both.select(long)] == [[EOS, 17, 18, 19], [0, 1, 2]]
    assert falling.joined(falling).votes == falling.votes


def test_all_words_are_marked_as_such() -> None:
    assert all(one.full for one in Plan(everything=True).joined(fixed(3)).select(Encoded()))
    assert fixed(*range(V)).select(Encoded())[0].full
    assert not Plan(everything=True).adjusted((), (3,)).select(Encoded())[0].full
    assert Plan(votes=Votes(0), exclude=(3,)).unrestricted() == Plan(everything=True, exclude=(3,))


@given(IDS, IDS, IDS, IDS, IDS)
def test_adjusting_twice(
    first: list[int], more: list[int], less: list[int], again: list[int], out: list[int]
) -> None:
    plan = fixed(*first).adjusted(more, less).adjusted(again, out)
    expected = ((({*first} | {*more}) - {*less}) | {*again}) - {*out} | {EOS}
    assert selected(plan) == [sorted(expected)] * 2


def test_another_part_of_a_union_may_name_what_one_excludes() -> None:
    part: Selector = Adjusted(NeuralSelection(0.999), (3,), (18, 19))  # log-odds 6.9
    plan = Union((part, Adjusted(NeuralSelection(0.9999), (4,)))).plan()  # 9.2
    assert plan.asked
    assert selected(plan) == [[EOS, 3, 4, 17], [0, EOS, 2, 3, 4]]
    assert Union((part, FullVocabulary())).plan().everything


def test_a_selector_must_name_words_for_each_sentence() -> None:
    plan = Plan.given([Shortlist.of([3], EOS)])
    with pytest.raises(ValueError, match="named the tokens of 1 of 2 sentences"):
        plan.select(Encoded())
