// int8 products on tile registers; everything else as with AVX-512.
#include <immintrin.h>

#include <cstring>

#include "kernels.hpp"

#define SIEVE_LANES 16

namespace sieve {
namespace {

#include "vectors.inl"
#include "floats.inl"

struct Isa {
  static constexpr std::size_t kRows = 6;
  static constexpr std::size_t kVectors = 4;
  static constexpr bool kUnsigned = true;
  using Row = __m512i;
  static Row row(const std::int8_t* p) {
    std::int32_t four = 0;
    std::memcpy(&four, p, sizeof four);
    return _mm512_set1_epi32(four);
  }
  static Integers weights(Integers stored) { return stored; }
  static Integers dot(Integers sums, Integers w, Row a) {
    return reinterpret_cast<Integers>(
        _mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sums), reinterpret_cast<__m512i>(w), a));
  }
};
#include "int8.inl"

}  // namespace

#include "table.inl"
SIEVE_KERNEL_TABLE(kAmx, "amx")

}  // namespace sieve
