"""What a card says of a head."""

from sieve.train.attach.attach_card import HeadFacts, card_with_head
from sieve.train.attach.head import HeadOptions, HeadProgress
from sieve.train.attach.reach_curve import ReachPoint

FACTS = HeadFacts(
    kind="tied",
    text="news.en, chat.en",
    sentences=48_000,
    label_minutes=3.26,
    train_minutes=5,
    options=HeadOptions(seed=7, size=500),
    progress=HeadProgress(1, 0.5, 0.99, 0.9),
    judged=1000,
    curves={
        "head": [ReachPoint(125, 0.9, 0.5), ReachPoint(499.6, 0.98765, 0.8765)],
        "head + lexicon": [ReachPoint(500.2, 0.999, 0.955)],
    },
)


def test_the_origin_stays_and_the_head_is_described() -> None:
    card = card_with_head("# en-pt\n\n- Licence: MIT\n", "selected", FACTS)
    assert card.startswith("# en-pt\n\n- Licence: MIT\n\n## Selection head\n")
    for line in (
        "- Head: tied, seed 7",
        "- Text: 48,000 lines of news.en, chat.en",
        "- Time: 3.3 minutes for translating them, 5.0 for learning",
        "- Head, 500 tokens: 98.77 % of the model's own tokens, 87.6 % of 1,000 held-out sentences "
        "in reach",
        "- Head + lexicon, 500 tokens: 99.90 % of the model's own tokens, 95.5 % of 1,000 held-out "
        "sentences in reach",
    ):
        assert line in card.splitlines()


def test_another_head_takes_the_place_of_the_first() -> None:
    once = card_with_head("# en-pt\n", "selected", FACTS)
    assert card_with_head(once, "selected", FACTS) == once


def test_a_model_without_a_card_gets_its_name() -> None:
    assert card_with_head("", "selected", FACTS).startswith("# selected\n\n## Selection head")
