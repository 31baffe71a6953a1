"""The quick English-German model."""

from results_common import percent, read, table


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
    ]
