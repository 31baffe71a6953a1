"""The settings in which each engine of cpu_latency.py is tried: the fastest is measured."""

from typing import Any

CANDIDATES: dict[str, dict[str, dict[str, Any]]] = {
    "ctranslate2": {
        "int8": {},
        "int8, AVX-512 forced": {"environment": {"CT2_FORCE_CPU_ISA": "AVX512"}},
    },
    "marian": {
        kind: {"settings": {"gemm_type": kind}}
        for kind in ("intgemm8", "packed8avx512", "packed8avx2")
    },
    "torch": {kind: {"settings": {"backend": kind}} for kind in ("x86", "onednn")},
    "sieve": {"int8": {}},
}
"""What each engine offers in int8: environment of its worker, settings of its model."""
AVX2: dict[str, dict[str, dict[str, Any]]] = {
    "ctranslate2": {"int8, AVX2": {"environment": {"CT2_FORCE_CPU_ISA": "AVX2"}}},
    "marian": {
        "intgemm8, AVX2": {
            "environment": {"INTGEMM_CPUID": "AVX2"},
            "settings": {"gemm_type": "intgemm8"},
        }
    },
    "sieve": {"int8, AVX2": {"environment": {"SIEVE_KERNELS": "avx2"}}},
}
"""The same on a CPU without VNNI and AVX-512, as far as an engine can be told so."""
