"""Parts measured alone."""

from results_attached import attached
from results_common import Json, read, table


def parts() -> list[str]:
    return [
        "## Parts",
        *table(
            ("", "measured", "file"),
            (*_model(), *_text(), *_lexicons()),
        ),
        "",
        "CPU figures were taken on two busy cores: read them as ratios. Paths in the recorded "
        "commands were shortened to what a reader has; five files (loader, round trips, lexicons, "
        "preparation) got their command line written in afterwards, since their scripts did not "
        "record it yet. What `recipes/common/*.sh` did are stages of `recipes/build.py` today.",
    ]


def _model() -> list[tuple[str, str, str]]:
    speed = read("model_speed")["compiled"]
    gpu = {(row["method"], row["V"]): row for row in read("nvs_memory_gpu")["rows"]}
    cpu = {(row["method"], row["V"]): row for row in read("nvs_memory_cpu")["rows"]}
    scans = {kind: read(f"ssru_scan_{kind}")["rows"] for kind in ("gpu", "cpu")}
    ratios = {kind: [row["ratio"] for row in rows] for kind, rows in scans.items()}
    before = read("attention_before")["cudnn_attention_generated_data"]
    distilled = read("static_shortlist")
    sparse, *_, static = [row for row in distilled["rows"] if row["top"] == 100]
    libraries = read("int8_libraries")["shapes"]
    slower = [
        value / shape["microseconds"]["sieve avx512vnni"]
        for shape in libraries
        for name, value in shape["microseconds"].items()
        if name.startswith("torch")
    ]
    return [
        (
            "training step of `base`, 50k tokens of length 32, H200, compiled",
            f"encoder {speed['encoder_ms']:.1f}, decoder {speed['decoder_ms']:.1f}, output "
            f"{speed['output_ms']:.1f}, selection {speed['selection_ms']:.1f} ms; "
            f"{speed['tokens_per_second'] / 1000:.0f}k tokens/s",
            "`model_speed.json`",
        ),
        (
            "training speed with cuDNN's attention, before our kernel",
            f"{before['steady_tokens_per_second'] / 1000:.0f}k tokens/s (generated data)",
            "`attention_before.json`",
        ),
        (
            "selection head at 256k tokens, forward and backward, H200",
            _memory(gpu["blockwise", 256000], gpu["plain", 256000], "ms"),
            "`nvs_memory_gpu.json`",
        ),
        (
            "the same on a CPU, 16 sentences",
            _memory(cpu["blockwise", 256000], cpu["plain", 256000], "s"),
            "`nvs_memory_cpu.json`",
        ),
        (
            "SSRU scan against step loop, forward and backward",
            f"{min(ratios['gpu']):.1f} to {max(ratios['gpu']):.1f} times faster (H200), "
            f"{min(ratios['cpu']):.1f} to {max(ratios['cpu']):.1f} (CPU); within 2e-6",
            "`ssru_scan_gpu.json`, `ssru_scan_cpu.json`",
        ),
        (
            "int8 products of a step, FBGEMM and oneDNN through torch against ours",
            f"{min(slower):.1f} to {max(slower):.1f} times as long",
            "`int8_libraries.json`",
        ),
        (
            f"a head distilled into static lists by `sieve export`: own tokens within "
            f"{static['mean_size']:.0f} of {distilled['tokens']} tokens, newstest2019",
            f"{static['static']['own']:.1f} % from {static['lines']} lines of news, "
            f"{sparse['static']['own']:.1f} % from {sparse['lines']} at {sparse['mean_size']:.0f}; "
            f"the head itself {static['head']['own']:.1f} %",
            "`static_shortlist.json`",
        ),
    ]


def _memory(small: Json, plain: Json, unit: str) -> str:
    scale, digits = (1, 1) if unit == "ms" else (1000, 1)
    first, second = (
        f"{one['peak_mib'] / 1024:.1f} GiB, {one['ms'] / scale:.{digits}f} {unit}"
        for one in (small, plain)
    )
    return f"{first}; plain {second}"


def _text() -> list[tuple[str, str, str]]:
    runs = {run["pairs"]: run["peak_mib"]["all"] for run in read("prepare_memory")["runs"]}
    exact: dict[tuple[str, str], float] = {
        (row["kind"], row["language"]): 100 * row["exact_share"]
        for row in read("moses_roundtrip")["results"]
    }
    loader = read("loader")
    speeds = [
        plan["one_thread_tokens_per_second"] for plan in loader["plans"] if plan["multiple"] == 4
    ]
    trips, paged = read("document_round_trips")["formats"], read("document_pages")
    timed = read("document_time")
    parity, outputs = read("parity")["models"], read("parity_outputs")["tests"]
    return [
        (
            "`sieve prepare`, peak memory of all processes",
            f"{runs[100_000]} MiB at 100k pairs, {runs[5_000_000]} MiB at 5M, tokenizer learned "
            "from 100k pairs in both",
            "`prepare_memory.json`",
        ),
        (
            "exact round trips on news text",
            f"SentencePiece {exact['sentencepiece-unigram', 'en']:.0f} %; sacremoses + BPE "
            f"{exact['moses-bpe', 'en']:.1f} % English, {exact['moses-bpe', 'de']:.1f} % German",
            "`moses_roundtrip.json`",
        ),
        (
            "texts whose every sentence boundary is right",
            ", ".join(
                f"{name} {_right(each['sieve'])} % (sentencex {_right(each['sentencex'])} %)"
                for name, each in read("sentence_boundaries")["sets"].items()
            ),
            "`sentence_boundaries.json`",
        ),
        (
            "real documents that a copier gives back byte for byte, of those that can be read "
            "(test files of python-docx, python-pptx, pandoc, Apache POI, epubcheck, …)",
            ", ".join(
                f"{kind} {counts['same'] + counts['texts_differ']} of "
                f"{counts['same'] + counts['texts_differ'] + counts['changed']}"
                for kind, counts in trips.items()
                if counts["same"]
            ),
            "`document_round_trips.json`",
        ),
        (
            "the same for texts (test files and documentation of Python, Sphinx, SymPy, Django, "
            "LaTeX, HoTT, React Native, ngx-i18nsupport, …; at most 30 each; of catalogues also "
            "those filled in and the same when filled in again)",
            ", ".join(
                f"{kind} {right} of {right + counts.get('different', 0)}"
                for kind, counts in read("document_copies")["formats"].items()
                if (right := counts.get("same", 0) + counts.get("filled", 0))
            ),
            "`document_copies.json`",
        ),
        (
            "translated documents that LibreOffice opens; with as many pages as before; ±1",
            f"{paged['opened_after']} of {paged['documents']}; {paged['same_pages']}; "
            f"{paged['within_one_page']}",
            "`document_pages.json`",
        ),
        (
            f"a Word document of {timed['pages']} pages, a word of every paragraph in bold, "
            "beside its sentences as lines: CPU time; peak memory, and that of a tenth of it",
            f"{timed['document_to_text']:.2f} times; {timed['document']['peak_mib']:.0f} and "
            f"{timed['document_of_a_tenth']['peak_mib']:.0f} MiB",
            "`document_time.json`",
        ),
        *attached(),
        (
            "mean time of a sentence beside the toolkits that imported models came from (int8, one "
            "thread): theirs / ours",
            ", ".join(f"{m['model']}, {m['beside']} {m['ratio']['mean']:.1f}" for m in parity),
            "`parity.json`",
        ),
        (
            "imported students in int8 beside bergamot: BLEU, theirs / ours, equal outputs, and "
            "tokens that agree under forced decoding",
            "; ".join(
                f"{pair} {made['bleu']:.2f} / {made['bleu_ours']:.2f}, {made['identical']:.1%}, "
                f"{outputs[f'forced_tokens_agree[{pair}]']['forced_agreement']:.1%}"
                for pair in ("en-pt", "pt-en")
                for made in [outputs[f"quality_and_sources[{pair}]"]]
            ),
            "`parity_outputs.json`",
        ),
        (
            "batch assembly, one thread",
            f"{min(speeds) / 1e6:.1f}M to {max(speeds) / 1e6:.1f}M tokens/s on 1.5M real pairs",
            "`loader.json`",
        ),
    ]


def _right(counts: Json) -> str:
    return f"{100 * counts['texts_right'] / counts['texts']:.0f}"


def _lexicons() -> list[tuple[str, str, str]]:
    build = read("lexicon_build")
    speed = {
        row["aligner"]: row["ms_per_pair_and_direction"] for row in read("aligners")["results"]
    }
    return [
        (
            f"lexicon of {build['pairs'] / 1e6:.1f}M pairs (fast_align's model, two directions)",
            f"{build['wall_s'] / 60:.0f} minutes, {build['peak_memory_gb']:.1f} GB on two busy "
            "cores",
            "`lexicon_build.json`",
        ),
        (
            "fast_align's model, CPU ms a pair and direction",
            f"ours {speed['sieve fast_align']:.2f}, systran-align {speed['systran fast_align']:.2f}"
            f", sil-thot {speed['thot fast_align']:.2f}; of sil-thot, HMM {speed['thot hmm']:.2f}, "
            f"eflomal {speed['thot eflomal']:.2f}",
            "`aligners.json`",
        ),
    ]
