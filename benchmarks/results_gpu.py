"""Translation on a GPU."""

from results_common import Json, read, table
from results_paper import LATENCY


def gpu() -> list[str]:
    latency, bulk = read("gpu_latency"), read("gpu_throughput")
    none, nvs = latency["latency"]["none"], latency["latency"]["nvs"]
    eager, compiled = latency["hugging_face_eager"], latency["hugging_face_decoder-compiled"]
    step = {name: latency["breakdown"][name] for name in ("none", "nvs")}
    rest = [sum(one[key] for key in ("encode", "start", "results")) for one in step.values()]
    differ = [one for one in latency["check"].values() if one["same"] < 1]
    engines = ("none", "nvs", "hugging_face")
    return [
        "## Translation on a GPU",
        "One H200, fp16, beam 5, random weights, lengths forced (EOS cannot win); sets of about "
        "1000 of 32,000 tokens. `gpu_latency.json`, `gpu_throughput.json`.",
        "",
        *table(
            (
                "",
                "no selection",
                "with selection",
                "Hugging Face `generate`, eager",
                "the same, decoder compiled",
            ),
            (
                (
                    "one sentence, 30 + 30 tokens, paper's model (20+2 layers): p50 / p90 ms",
                    *(f"{one['p50']:.2f} / {one['p90']:.2f}" for one in (none, nvs)),
                    *(f"{one['p50']:.1f} / {one['p90']:.1f}" for one in (eager, compiled)),
                ),
                (
                    "mean ± 95 %",
                    *(_mean(one, 3) for one in (none, nvs)),
                    *(_mean(one, 1) for one in (eager, compiled)),
                ),
                (
                    "512 sentences, 32 + 32 tokens, `base`: ms a batch (p50)",
                    *(f"{bulk[name]['p50']:.1f}" for name in engines),
                    "",
                ),
                (
                    "mean ± 95 %",
                    *(_mean(bulk[name], 1) for name in engines[:2]),
                    _mean(bulk["hugging_face"], 0),
                    "",
                ),
            ),
        ),
        "",
        f"A step takes {step['none']['step']:.3f} ms without selection, {step['nvs']['step']:.3f} "
        f"with it. Selection takes {latency['latency']['nvs_p90_share']:.2f} of the latency at "
        f"p90: encoder, start and results ({min(rest):.1f} to {max(rest):.1f} ms) are nearly the "
        "same for both (`decisions.md`). In fp32 the captured path gives the same translations as "
        "the eager one for all sentences of the check; in fp16 two of 32 differ in "
        f"{len(differ)} of {sum('float16' in name for name in latency['check'])} combinations. "
        "`gpu_kernels.json` has the way there.",
        "",
        "Of Hugging Face, *decoder compiled* is `torch.compile` of the decoder with its default "
        "cache. Its static cache together with the `reduce-overhead` mode, which captures CUDA "
        "graphs, was not measured: what that would take is not known here, so these columns are "
        "no statement on the fastest that library can do.",
        "",
        f"Paper, table 5, GPU p90 with NVS λ = 0.9 as a share of no selection: "
        f"{_range()} %; here "
        f"{100 * latency['latency']['nvs_p90_share']:.0f} %. What differs: an H200 instead of a "
        "T4 (g4dn.xlarge), whose output projection takes a larger part of a step; CUDA graphs "
        "here; random weights and forced lengths.",
    ]


def _mean(one: Json, digits: int) -> str:
    # what is known to few digits is shown so
    return f"{one['mean']:.{digits}f} ± {one['ci95']:.{digits}f}"


def _range() -> str:
    shares = sorted(gpu for _, gpu in LATENCY.values())
    return f"{shares[0]:.1f} to {shares[-1]:.1f}"
