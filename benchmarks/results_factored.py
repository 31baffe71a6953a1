"""The section of docs/results.md on heads of low rank."""

from results_common import SETTLED, read, table


def factored() -> list[str]:
    """Heads of low rank, beside the exact one."""
    content = read("factored")
    ranks, models, commands = content["ranks"], content["models"], content["commands"]
    numbers = ("own", "reach")
    return [
        "## A head of low rank",
        f"Built-in en-de, {ranks['lines']} lines of newstest2017, factors from newstest2018; sets "
        f"of {ranks['size']:,} tokens, no minimum. Second look: tokens looked at in full for "
        "each that is selected. Products: of the exact head's, by the dimensions. Own: recall of "
        "the model's own tokens; reach: sentences that miss none. In percent. `factored.json`; "
        f"{commands['ranks']}",
        "",
        *table(
            ["rank", "second look", "products", *numbers],
            [
                [row["rank"], row["second_look"] or "none", f"{row['products']:.2f}"]
                + [row[name] for name in numbers]
                for row in ranks["rows"]
            ],
        ),
        "",
        "The default selections of built-in models with either head, rank 64 with a second look at "
        f"1.5, calibrated on newstest2018. {SETTLED} {commands['models']}",
        "",
        *table(
            ["model", "head", "set", "lines", "tokens", *numbers, "reference", "equal outputs"],
            [
                [row["model"], row["head"], row["set"], row["lines"], f"{row['size']:,.0f}"]
                + [row[name] for name in (*numbers, "reference", "equal")]
                for row in models["rows"]
            ],
        ),
        "",
    ]
