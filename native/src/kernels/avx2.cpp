#include <immintrin.h>

#include <cstring>

#include "kernels.hpp"

#define SIEVE_LANES 8

namespace sieve {
namespace {

#include "vectors.inl"
#include "floats.inl"
#include "attention.inl"

/// 16-bit sums of two products cannot overflow: one factor is made positive, both are below 128.
struct Isa {
  static constexpr std::size_t kRows = 4;
  static constexpr std::size_t kVectors = 2;
  static constexpr bool kUnsigned = false;
  struct Row {
    __m256i values, magnitudes;
  };
  static Row row(const std::int8_t* p) {
    std::int32_t four = 0;
    std::memcpy(&four, p, sizeof four);
    const __m256i values = _mm256_set1_epi32(four);
    return {values, _mm256_abs_epi8(values)};
  }
  static Integers weights(Integers stored) {
    return stored ^ static_cast<std::int32_t>(0x80808080U);
  }
  static Integers dot(Integers sums, Integers w, const Row& a) {
    const __m256i signs = _mm256_sign_epi8(reinterpret_cast<__m256i>(w), a.values);
    const __m256i pairs = _mm256_maddubs_epi16(a.magnitudes, signs);
    return sums + reinterpret_cast<Integers>(_mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
};
#include "int8.inl"

}  // namespace

#include "table.inl"
SIEVE_KERNEL_TABLE(kAvx2, "avx2", multiply_int8, pool_int8)

}  // namespace sieve
