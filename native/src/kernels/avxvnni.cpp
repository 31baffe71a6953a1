#include <immintrin.h>

#include <cstring>

#include "kernels.hpp"

#define SIEVE_LANES 8

namespace sieve {
namespace {

#include "vectors.inl"
#include "floats.inl"
#include "attention.inl"

struct Isa {
  static constexpr std::size_t kRows = 6;
  static constexpr std::size_t kVectors = 2;
  static constexpr bool kUnsigned = true;
  using Row = __m256i;
  static Row row(const std::int8_t* p) {
    std::int32_t four = 0;
    std::memcpy(&four, p, sizeof four);
    return _mm256_set1_epi32(four);
  }
  static Integers weights(Integers stored) { return stored; }
  static Integers dot(Integers sums, Integers w, Row a) {
    return reinterpret_cast<Integers>(
        _mm256_dpbusd_avx_epi32(reinterpret_cast<__m256i>(sums), reinterpret_cast<__m256i>(w), a));
  }
};
#include "int8.inl"

}  // namespace

#include "table.inl"
SIEVE_KERNEL_TABLE(kAvxVnni, "avxvnni", multiply_int8, pool_int8)

}  // namespace sieve
