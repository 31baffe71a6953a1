"""Translation on a CPU beside other engines."""

from results_common import Json, read, table
from results_paper import LATENCY

OURS = "Sieve, NVS"
TITLE = "30 source and 30 output tokens"
ROWS = {
    "Sieve, neural selection": OURS,
    "Sieve, lexicon of the same size": "Sieve, lexicon k=200",
    "Sieve, no selection": "Sieve, no selection",
    "CTranslate2 4.8.4": "CTranslate2",
    "CTranslate2, vmap of the same size": "CTranslate2, vmap",
    "Marian (pymarian 1.12.42), shortlist 50/50": "Marian, shortlist 50/50",
    "Marian, no shortlist": "Marian",
    "torch 2.13, dynamic int8": "torch dynamic",
}
SHORT = ("Sieve, lexicon of the same size", "Marian, no shortlist", "torch 2.13, dynamic int8")
"""Rows without an interval: far from anything, or the same engine."""


def cpu() -> list[str]:
    tables = [one for one in read("cpu_latency")["tables"] if one["title"] == TITLE]
    methods = [one["methods"] for one in tables]
    return [
        "## Translation on a CPU",
        "One core of an EPYC (Zen 4: AVX-512 VNNI, no AMX), one thread, batch 1, beam 5, int8, "
        "random weights, 30 source and 30 output tokens, shortlists of about 1000 of 32,000 "
        "tokens, peers "
        "in the fastest of their int8 settings, all taking turns in one run (`cpu_latency.py`; "
        "`cpu_latency.json`, which also has newstest2019's lengths, means with intervals, memory "
        "and the AVX2 figures). p90 in ms, in brackets p90 relative to Sieve with neural selection "
        "and its 95 % interval. CTranslate2 has a self-attention decoder, it knows no SSRU.",
        "",
        *table(
            ("", "6+2 layers, 256/1536", "`base` 512/2048", "`paper` 20+2, 1024/4096"),
            (
                *(
                    (label, *(_latency(label, one[name]) for one in methods))
                    for label, name in ROWS.items()
                ),
                (
                    "Sieve, neural selection: encode / select / gather / steps (medians)",
                    *(_parts(one[OURS]["parts_ms"], place) for place, one in enumerate(methods)),
                ),
                (
                    "a step, and the floor of reading its weights",
                    *(
                        f"{one['methods'][OURS]['parts_ms']['step']:.3f}, "
                        f"{one['floor']['floor_ms']:.3f}"
                        for one in tables
                    ),
                ),
                (
                    "peak memory of the process, model file (MB)",
                    *(f"{one[OURS]['peak_mb']:.0f}, {one[OURS]['model_mb']}" for one in methods),
                ),
            ),
        ),
        "",
        "Every engine that runs a real model, batch 1 and many lines on one core: "
        "[the latency board](board.md), `board.json`.",
        "",
        *_about(tables),
        "",
        *_memory(methods),
        "",
        *_paper(methods[2]),
        "",
        *_bulk(),
        "",
        *_quality(),
        "",
        *_same_bytes(),
    ]


def _latency(label: str, one: Json) -> str:
    p90, ratio = one["p90"], one["ratio"]
    shown = f"{p90:.0f}" if label.startswith(SHORT[1:]) else f"{p90:.1f}"
    if label == "Sieve, neural selection":
        return f"**{shown}**"
    low, high = ratio["p90_ci95"]
    if label == SHORT[0]:
        return f"{shown} ({ratio['p90']:.2f})"
    if label in SHORT:
        digits = 1 if ratio["p90"] < 10 and label == SHORT[2] else 0
        return f"{shown} ({ratio['p90']:.{digits}f})"
    return f"{shown} ({ratio['p90']:.1f} [{low:.1f}, {high:.1f}])"


def _parts(parts: Json, place: int) -> str:
    digits = 2 if place < 2 else 1
    names = ("encode", "select", "gather", "steps")
    return " / ".join(f"{parts[name]:.{digits}f}" for name in names)


def _about(tables: list[Json]) -> list[str]:
    over = [f"{one['floor']['step_over_floor']:.1f}" for one in tables]
    shares = []
    for one in tables:
        parts = one["methods"][OURS]["parts_ms"]
        chosen = parts["select"] + parts["gather"]
        whole = sum(parts[name] for name in ("encode", "select", "gather", "steps"))
        shares.append(f"{100 * chosen / whole:.0f}")
    return [
        f"A step is {over[0]}, {over[1]} and {over[2]} times the floor, selection with its gather "
        f"{shares[0]}, {shares[1]} and {shares[2]} % of a sentence: on this CPU the products take "
        "longer than reading the weights (`decisions.md`)."
    ]


def _memory(methods: list[Json]) -> list[str]:
    lexicon, none = "Sieve, lexicon k=200", "Sieve, no selection"
    limits = [1.3 * one[OURS]["model_mb"] + 40 for one in methods]
    held = {
        name: [one[name]["peak_mb"] <= limit for one, limit in zip(methods, limits, strict=True)]
        for name in (none, OURS, lexicon)
    }
    assert all(held[none]) and all(held[OURS]), "the sentence below says that these hold"
    peaks = [f"{one[lexicon]['peak_mb']:.0f}" for one in methods]
    bulk = read("cpu_bulk")["tables"][0]["methods"]
    threads = [bulk[f"Sieve, {name}"]["peak_mb"] for name in ("none", "nvs", "lexicon")]
    shown = [f"{limit:.0f}" for limit in limits]
    return [
        f"The memory target of 1.3 times the file and 40 MB ({shown[0]}, {shown[1]}, {shown[2]}) "
        "holds in every size without selection and with neural selection on one thread. It does "
        f"not with a lexicon (peaks {peaks[0]}, {peaks[1]} and {peaks[2]} MB, "
        f"{sum(held[lexicon])} of 3 within it) nor with two threads on many sentences: 256/1536 "
        f"then takes {threads[0]:.0f} (none), {threads[1]:.0f} (neural) and {threads[2]:.0f} MB "
        f"(lexicon) instead of {shown[0]}."
    ]


def _paper(one: Json) -> list[str]:
    share = 100 * one[OURS]["p90"] / one["Sieve, no selection"]["p90"]
    shares = sorted(cpu for cpu, _ in LATENCY.values())
    return [
        "Paper, table 5, CPU p90 with NVS λ = 0.9 as a share of no selection: "
        f"{shares[0]:.1f} to {shares[-1]:.1f} % (999 ms without selection for en-de); here, in the "
        f"paper's size, {share:.0f} % of {one['Sieve, no selection']['p90']:.0f} ms. What differs: "
        "one core of an EPYC instead of a c5.2xlarge, our engine instead of Sockeye 2, so that the "
        "output projection is a smaller part of what is left; random weights, forced lengths and "
        "shortlists of 1000 tokens."
    ]


def _bulk() -> list[str]:
    one = read("cpu_bulk")["tables"][0]
    methods = {name: value["tokens_per_second"] for name, value in one["methods"].items()}
    plain = next(v for k, v in methods.items() if k.startswith("CTranslate2, 2"))
    vmap = next(v for k, v in methods.items() if k.startswith("CTranslate2, vmap"))
    nvs, lexicon, none = (methods[f"Sieve, {name}"] for name in ("nvs", "lexicon", "none"))
    return [
        f"Many sentences, two threads, {one['size']} ({one['sentences']:,} sentences of "
        f"{one['mean_length']} tokens, `cpu_bulk.json`): {nvs:,} tokens a second with selection, "
        f"{lexicon:,} with the lexicon, {none:,} without; CTranslate2's best of ten settings "
        f"{plain:,} without and {vmap:,} with a vmap (batch 1 is its best there: a batch shares "
        f"one list): {nvs / plain:.1f} and {nvs / vmap:.1f} times."
    ]


def _quality() -> list[str]:
    one = read("int8_quality")
    small, full = one["int8"], one["float32"]
    beam, greedy = "nvs:0.5, beam 5", "none, greedy"
    return [
        "int8 beside fp32, quick-en-de on 600 sentences of newstest2019, both on the native "
        f"engine: BLEU {small[beam]['bleu']:.2f} and {full[beam]['bleu']:.2f} (beam 5 over the "
        f"sets of λ = 0.5), {small[greedy]['bleu']:.2f} and {full[greedy]['bleu']:.2f} (greedy, "
        f"all tokens); mean shortlist {small['mean_set']:.1f} and {full['mean_set']:.1f}, recall "
        f"{small['recall']:.2f} and {full['recall']:.2f} (`int8_quality.json`)."
    ]


def _same_bytes() -> list[str]:
    one = read("same_bytes")
    changes = [
        f"{pair} {change['changed']} of {change['lines']:,}, BLEU {change['bleu_before']:.2f} → "
        f"{change['bleu_now']:.2f}"
        for pair, change in one["newstest2018 beside before"].items()
    ]
    return [
        "Whether every kind of CPU gives the same bytes: built-in models, real lines; ids, scores, "
        f"alignments, confidence and text of each line beside those of {one['kernels']}; ARM is "
        "emulated by qemu. Translations of newstest2018 that the one order of sums "
        f"changed: {'; '.join(changes)} (`same_bytes.json`).",
        "",
        *table(
            ("kernels", *(f"{case}: lines, different" for case in one["cases"])),
            [
                (name, *(f"{cases[case]['lines']:,}, {cases[case]['differ']}" for case in cases))
                for name, cases in one["beside"].items()
            ],
        ),
    ]
