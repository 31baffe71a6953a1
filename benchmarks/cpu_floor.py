"""The floor under a decoder step: how fast one core can merely load as many bytes as it reads."""

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from cpu_common import Size

SOURCE = r"""
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <vector>
typedef long long Vector __attribute__((vector_size(64)));
extern "C" double seconds_a_pass(size_t bytes, int passes) {
  static Vector* buffer = nullptr;
  static size_t held = 0;
  if (held != bytes) {
    free(buffer);
    buffer = static_cast<Vector*>(aligned_alloc(64, bytes));
    memset(buffer, 1, bytes);
    held = bytes;
  }
  const size_t n = bytes / sizeof(Vector);
  std::vector<double> seconds;
  for (int pass = 0; pass < passes; ++pass) {
    Vector sum[8] = {};
    const auto begin = std::chrono::steady_clock::now();
    for (size_t i = 0; i < n; i += 8)
      for (int j = 0; j < 8; ++j) sum[j] |= buffer[i + j];
    for (int j = 0; j < 8; ++j) asm volatile("" : : "m"(sum[j]));
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    seconds.push_back(spent.count());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}
"""
BLOCK = 512
"""Buffers are multiples of this: eight vectors."""


def prepare(directory: Path, size: Size, set_size: int) -> None:
    """Nothing to write."""


class Subject:
    """Vector loads over a buffer, compiled for this machine."""

    def __init__(
        self, directory: Path, size: Size, selection: str, settings: dict[str, Any]
    ) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            source, library = Path(scratch, "floor.cpp"), Path(scratch, "floor.so")
            source.write_text(SOURCE)
            flags = ["-O3", "-march=native", "-shared", "-fPIC"]
            compiler = next(filter(None, map(shutil.which, ("g++", "c++", "clang++"))), "g++")
            subprocess.run([compiler, *flags, str(source), "-o", str(library)], check=True)
            self.run = ctypes.CDLL(str(library)).seconds_a_pass
        self.run.argtypes = (ctypes.c_size_t, ctypes.c_int)
        self.run.restype = ctypes.c_double

    def facts(self) -> dict[str, Any]:
        """Nothing more to tell."""
        return {}

    def bandwidth(self, bytes_: int) -> float:
        """Bytes a second over a buffer of this size: the median of 21 passes."""
        size = -(-bytes_ // BLOCK) * BLOCK
        return float(size / self.run(size, 21))
