"""The quick English-German model and the first steps of the paper's recipe."""

from results_common import Json, bold, percent, read, table, thousands

TESTS = {
    "newstest2019": "newstest2019",
    "tatoeba2021": "tatoeba2021",
    "itds_idiom_test_detok": "ITDS idioms",
}
SIZES = ("250", "500", "1000", "2000", "4000", "8000")
THRESHOLDS = ("0.5", "0.9", "0.99")
TOP = (10, 50, 100, 200, 500, 1000, 5000)
BY_COUNT, BY_PROBABILITY = "by:count", "by:probability"


def quick() -> list[str]:
    training, scores = read("quick_en_de_training"), read("quick_en_de")
    tests = scores["tests"]
    news = tests["newstest2019"]
    run = training["run"]["training"]
    return [
        "## English-German in ten minutes on one H200 (`recipes/quick-en-de`)",
        "1.53M mixed pairs (documentation, parliament, everyday sentences, games, Bible, "
        "dictionary), `base` (6+2 layers, 512/2048, 32,000 joint tokens, 43.8M parameters), tied "
        f"head, λ_p = {run['positive_weight']:.0f}, joint training for {training['minutes']} "
        f"minutes: {training['updates']:,} updates of {run['batch_tokens'] // 1000}k target "
        f"tokens, {training['target_tokens'] / 1e6:.0f}M tokens. `quick_en_de_training.json`, "
        "`quick_en_de.json` (evaluated in bf16 on the GPU with the beam kernel switched off, "
        "which did not compile that day; the search is the same without it).",
        "",
        *table(
            ("", "target", "measured"),
            (
                (
                    "steady training speed, bf16, 50k-token batches",
                    "700k target tokens/s",
                    f"**{training['steady_tokens_per_second'] / 1000:.0f}k**",
                ),
                (
                    "slowest log interval from 10 s after the first step, share of steady speed",
                    "0.90",
                    f"**{training['slowest_interval_after_10_s']:.2f}**",
                ),
                (
                    "compilation and warm-up, not counted",
                    "reported",
                    f"{training['warm_up_seconds'][0]:.0f} s",
                ),
                (
                    "newstest2019, greedy BLEU (sacreBLEU 13a)",
                    "26",
                    f"**{news['greedy_bleu']['none']:.1f}**",
                ),
                (
                    "newstest2019, recall at a mean of 1000 of 32,000 tokens",
                    "93",
                    f"**{percent(news['recall_at_size']['1000'])}**",
                ),
            ),
        ),
        "",
        "Recall of unique reference tokens at a mean shortlist size, of 32,000 tokens:",
        "",
        *table(
            ("", *SIZES),
            (
                (name, *(percent(tests[test]["recall_at_size"][size]) for size in SIZES))
                for test, name in TESTS.items()
            ),
        ),
        "",
        "Greedy BLEU over the sets of a threshold, and the share of outputs that selection leaves "
        "as they were:",
        "",
        *table(
            ("", "none", *(f"λ = {threshold}" for threshold in THRESHOLDS)),
            ((name, *_greedy(tests[test])) for test, name in TESTS.items()),
        ),
        "",
        "With λ_p = 1000, λ = 0.9 is a far smaller set than with the paper's λ_p = 100,000: the "
        "two are one dial. What differs from the paper: a fiftieth of the data, a tenth of the "
        "model, minutes of training instead of days; test sets as named.",
    ]


def _greedy(test: Json) -> list[str]:
    cells = [f"{test['greedy_bleu']['none']:.1f}"]
    for threshold in THRESHOLDS:
        name = f"nvs:{threshold}"
        size = test["recall_at_threshold"][threshold]["size"]
        same = percent(test["unchanged"][name], 0)
        cells.append(f"{test['greedy_bleu'][name]:.1f}, {same} %, {size:.0f} tokens")
    return cells


def lexicons() -> list[str]:
    compared = read("quick_en_de_comparison")["tests"]
    head = read("quick_en_de_int8_recall")["tests"]["newstest2019"]["recall_at_size"]["1000"]
    full = read("quick_en_de")["tests"]["newstest2019"]["recall_at_size"]["1000"]
    itds = _of(compared["itds_idiom_test_detok"], BY_COUNT)
    passed = [
        row
        for row in _of(compared["itds_idiom_test_detok"], BY_PROBABILITY)["rows"]
        if row["lexicon"] > row["head"]
    ]
    shown = ", ".join(
        f"{row['lexicon']:.1f} against {row['head']:.1f} at {thousands(row['mean_size'])} tokens"
        for row in passed
    )
    at = {row["k"]: row["lexicon"] for row in itds["rows"]}
    return [
        "Against alignment lexicons of the same data (fast_align's model), at each lexicon's own "
        "mean shortlist sizes: the k most often aligned tokens over both directions "
        "(grow-diag-final-and), as in the paper, and the k most probable translations of one "
        "direction, the stronger baseline. The head is the same model with its weights rounded to "
        "8 bits a row, as they came back from the GPU machine, in fp32 arithmetic "
        f"({100 * head:.2f} instead of {100 * full:.2f} at 1000 tokens). "
        "`quick_en_de_comparison.json`, `quick_en_de_lexicon.json`, "
        "`quick_en_de_int8_recall.json`.",
        "",
        *_comparison("counted", compared, BY_COUNT),
        "",
        *_comparison("by probability", compared, BY_PROBABILITY),
        "",
        "The head is above both lexicons at every size on newstest2019 and tatoeba2021, and above "
        "the paper's lexicon at every size on all three sets. On ITDS the lexicon by probability "
        f"passes it with more than half of the vocabulary ({shown}).",
        "",
        f"Paper, table 2, ITDS en-de in sentence scope: 91.5 at k = 200, 97.3 at k = 1000; this "
        f"lexicon {at[200]:.1f} and {at[1000]:.1f}. What differs: 1.5M mixed pairs instead of the "
        "WMT20 data, a joint SentencePiece vocabulary of 32,000 instead of BPE on Moses tokens "
        "(idiom scope was not measured on this model).",
    ]


def _of(lexicons: Json, kind: str) -> Json:
    (found,) = (value for name, value in lexicons.items() if kind in name)
    return dict(found)


def _comparison(title: str, compared: Json, kind: str) -> list[str]:
    rows = []
    for test, name in TESTS.items():
        points = {row["k"]: row for row in _of(compared[test], kind)["rows"]}
        here = [points[k] for k in TOP]
        rows.append([f"{name}: mean size", *(f"{row['mean_size']:.0f}" for row in here)])
        rows.append(["lexicon", *(f"{row['lexicon']:.1f}" for row in here)])
        rows.append(bold(["head", *(f"{row['head']:.1f}" for row in here)]))
    return table((f"{title}, k =", *map(str, TOP)), rows)


def paper_recipe() -> list[str]:
    run = read("paper_200_updates")
    first, last = run["course"][0], run["course"][-1]
    return [
        "## The paper's recipe (`recipes/paper`), first 200 updates on one H200",
        "20+2 layers, 1024/4096, sacremoses + 32k BPE, 346.8M parameters (32.7M in the full head), "
        "λ_p = 100,000, 50k target tokens an update in units of at most 25k, 290k Europarl pairs, "
        f"no validation: translation loss {first['loss']:.1f} → {last['loss']:.1f}, at "
        f"{run['steady_tokens_per_second'] / 1000:.0f}k tokens/s uncompiled. "
        "`paper_200_updates.json`. At that point of the warm-up (learning rate 5·10⁻⁵) the head's "
        f"loss has not moved yet ({first['nvs_loss']:.3f} → {last['nvs_loss']:.3f}): it started "
        "from the words' base rates. What differs from the paper: 200 of 70,000 updates, one GPU "
        "instead of eight; it shows that the recipe runs, and nothing of its quality.",
    ]
