// Which kernels this CPU can run.
#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels.hpp"

#ifdef SIEVE_X86
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#endif
#if defined(SIEVE_ARM) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace sieve {
namespace {

#ifdef SIEVE_X86
struct Leaf {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

Leaf leaf(unsigned number, unsigned sub) {
  Leaf found;
  if (__get_cpuid_count(number, sub, &found.a, &found.b, &found.c, &found.d) == 0) {
    return {};
  }
  return found;
}

bool has(unsigned bits, int bit) { return (bits >> bit & 1U) != 0; }

/// Registers that the operating system saves: XCR0.
unsigned saved_registers() {
  if (!has(leaf(1, 0).c, 27)) {
    return 0;
  }
  unsigned low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

/// The kernel gives a process tile registers only on request.
bool tiles_granted() {
#if defined(__linux__) && defined(SYS_arch_prctl)
  constexpr long kRequest = 0x1023;
  constexpr long kTileData = 18;
  return syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
#else
  return false;
#endif
}

void find(std::vector<const Kernels*>& found) {
  const Leaf basic = leaf(1, 0), extended = leaf(7, 0), more = leaf(7, 1);
  const unsigned saved = saved_registers();
  const bool ymm = (saved & 0x6U) == 0x6U, zmm = (saved & 0xe6U) == 0xe6U;
  const bool avx2 = ymm && has(basic.c, 12) && has(basic.c, 28) && has(extended.b, 5);
  const bool avx512 = avx2 && zmm && has(extended.b, 16) && has(extended.b, 17) &&
                      has(extended.b, 30) && has(extended.b, 31) && has(extended.c, 11);
  const bool tiles = (saved & 0x60000U) == 0x60000U && has(extended.d, 24) && has(extended.d, 25);
  if (avx512) {
    found.push_back(&kAvx512Vnni);
  }
  if (avx512 && tiles && tiles_granted()) {
    found.push_back(&kAmx);  // slower than the above where it was measured: docs/decisions.md
  }
  if (avx2 && has(more.a, 4)) {
    found.push_back(&kAvxVnni);
  }
  if (avx2) {
    found.push_back(&kAvx2);
  }
}
#endif

#ifdef SIEVE_ARM
/// By what Linux says; elsewhere, by what the compiler may take for granted.
void find(std::vector<const Kernels*>& found) {
#if defined(__linux__)
  const bool dotprod = (getauxval(AT_HWCAP) >> 20 & 1U) != 0;
  const bool i8mm = (getauxval(AT_HWCAP2) >> 13 & 1U) != 0;
#else
#if defined(__ARM_FEATURE_DOTPROD)
  constexpr bool dotprod = true;
#else
  constexpr bool dotprod = false;
#endif
#if defined(__ARM_FEATURE_MATMUL_INT8)
  constexpr bool i8mm = true;
#else
  constexpr bool i8mm = false;
#endif
#endif
  if (i8mm) {
    found.push_back(&kI8mm);
  }
  if (dotprod) {
    found.push_back(&kDotprod);
  }
}
#endif

std::vector<const Kernels*> find_all() {
  std::vector<const Kernels*> found;
#if defined(SIEVE_X86) || defined(SIEVE_ARM)
  find(found);
#endif
  found.push_back(&kPortable);
  return found;
}

}  // namespace

std::span<const Kernels* const> available_kernels() {
  static const std::vector<const Kernels*> found = find_all();
  return found;
}

const Kernels& kernels_named(std::string_view name) {
  const auto all = available_kernels();
  const auto found =
      std::find_if(all.begin(), all.end(), [name](const Kernels* k) { return k->name == name; });
  if (found == all.end()) {
    std::string names;
    for (const Kernels* kernels : all) {
      names += names.empty() ? "" : ", ";
      names += kernels->name;
    }
    throw std::invalid_argument("kernels: got '" + std::string(name) + "', this CPU has " + names);
  }
  return **found;
}

const Kernels& default_kernels() {
  const char* name = std::getenv("SIEVE_KERNELS");
  return name == nullptr || *name == '\0' ? *available_kernels().front() : kernels_named(name);
}

}  // namespace sieve
