"""From the workers' answers to a table: percentiles, ratios, memory, breakdown, floor."""

from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Any

from cpu_common import SIZES, ratio, summary


@dataclass
class Measured:
    """What the methods of one size answered, sentence by sentence."""

    size: str
    answers: dict[str, list[dict[str, Any]]]
    bandwidths: list[float] = field(default_factory=list)
    """Bytes a second of pure loads, once a block."""
    facts: dict[str, dict[str, Any]] = field(default_factory=dict)

    def seconds(self, name: str, kind: str = "seconds") -> list[float]:
        """One number a sentence: wall time, or `cpu` time."""
        return [one[kind] for one in self.answers[name]]

    def words(self, name: str) -> float:
        """Mean size of the sets; 0 where there is nothing yet."""
        return fmean(one["words"] for one in self.answers[name]) if self.answers.get(name) else 0.0


def table(measured: Measured, title: str, ours: str) -> dict[str, Any]:
    """One table of the result."""
    rows = {}
    for name, answers in measured.answers.items():
        rows[name] = {
            **summary(measured.seconds(name)),
            "cpu_p50": summary(measured.seconds(name, "cpu"))["p50"],
            "mean_set": round(measured.words(name), 1),
            "output_tokens": _range([one["length"] for one in answers]),
            **measured.facts[name],
        }
        if ours in measured.answers:
            for kind, key in (("seconds", "ratio"), ("cpu", "cpu_ratio")):
                pair = measured.seconds(name, kind), measured.seconds(ours, kind)
                rows[name][key] = ratio(*pair)
        if parts := _parts(answers):
            rows[name]["parts_ms"] = parts
    lengths = [one["length"] for one in next(iter(measured.answers.values()))]
    result = {"size": SIZES[measured.size].label, "title": title, "methods": rows}
    result["mean_output_tokens"] = round(fmean(lengths), 1)
    result["floor"] = _floor(measured, ours)
    return result


def _parts(answers: list[dict[str, Any]]) -> dict[str, float]:
    """Sieve's own breakdown: medians in milliseconds, and of a single step."""
    timed = [one for one in answers if "parts" in one]
    if not timed:
        return {}
    names = timed[0]["parts"]
    found = {name: 1000 * median(one["parts"][name] for one in timed) for name in names}
    if "steps" in names:
        found["step"] = 1000 * median(one["parts"]["steps"] / one["length"] for one in timed)
    return {name: round(value, 5) for name, value in found.items()}


def _floor(measured: Measured, ours: str) -> dict[str, Any]:
    """Time of merely loading what a step must read, and our step in units of it."""
    words = measured.words(ours)
    if not words:
        return {}
    bytes_ = SIZES[measured.size].step_bytes(words)
    bandwidth = median(measured.bandwidths)
    found = {
        "step_bytes": round(bytes_),
        "bandwidth_gb_s": round(bandwidth / 1e9, 2),
        "floor_ms": round(1000 * bytes_ / bandwidth, 5),
    }
    if step := _parts(measured.answers[ours]).get("step"):
        found["step_over_floor"] = round(step / (1000 * bytes_ / bandwidth), 3)
    return found


def _range(lengths: list[int]) -> str:
    low, high = min(lengths), max(lengths)
    return str(low) if low == high else f"{low}-{high}"


def print_table(found: dict[str, Any]) -> None:
    print(f"\n{found['size']}: {found['title']}")
    print(
        f"{'':<32}{'p50 ms':>9}{'p90 ms':>9}{'mean ms':>18}{'CPU p50':>9}{'p90 / NVS':>24}"
        f"{'set':>8}{'out':>8}{'peak MB':>9}{'file MB':>9}  settings"
    )
    for name, row in found["methods"].items():
        mean = f"{row['mean']:.2f} ± {row['ci95']:.2f}"
        print(
            f"{name:<32}{row['p50']:>9.2f}{row['p90']:>9.2f}{mean:>18}{row['cpu_p50']:>9.2f}"
            f"{_shown(row):>24}{row['mean_set']:>8.0f}{row['output_tokens']:>8}{row['peak_mb']:>9.0f}"
            f"{row['model_mb']:>9.1f}  {row['version']} {row['settings']} {row.get('kernels', '')}"
        )
    for name, row in found["methods"].items():
        if "parts_ms" in row:
            parts = "  ".join(f"{part} {value:.3f}" for part, value in row["parts_ms"].items())
            print(f"  {name}, ms: {parts}")
    if floor := found["floor"]:
        over = floor.get("step_over_floor")
        print(
            f"  floor: a step reads {floor['step_bytes'] / 1e6:.2f} MB at "
            f"{floor['bandwidth_gb_s']:.1f} GB/s = {floor['floor_ms']:.4f} ms"
            + (f"; Sieve's step takes {over:.2f} times that" if over else "")
        )


def _shown(row: dict[str, Any]) -> str:
    if "ratio" not in row:
        return ""
    low, high = row["ratio"]["p90_ci95"]
    return f"{row['ratio']['p90']:.2f} [{low:.2f}, {high:.2f}]"
