// ARMv8.6's products of four unsigned and signed values: weights are taken as stored.
#include <arm_neon.h>

#include <cstring>

#include "kernels.hpp"

#define SIEVE_LANES 4

namespace sieve {
namespace {

#include "vectors.inl"
#include "floats.inl"
#include "attention.inl"

struct Isa {
  static constexpr std::size_t kRows = 6;
  static constexpr std::size_t kVectors = 4;
  static constexpr bool kUnsigned = true;
  using Row = int8x16_t;
  static Row row(const std::int8_t* p) {
    std::int32_t four = 0;
    std::memcpy(&four, p, sizeof four);
    return vreinterpretq_s8_s32(vdupq_n_s32(four));
  }
  static Integers weights(Integers stored) { return stored; }
  static Integers dot(Integers sums, Integers w, Row a) {
    return reinterpret_cast<Integers>(vusdotq_s32(reinterpret_cast<int32x4_t>(sums),
                                                  reinterpret_cast<uint8x16_t>(w), a));
  }
};
#include "int8.inl"

}  // namespace

#include "table.inl"
SIEVE_KERNEL_TABLE(kI8mm, "i8mm", multiply_int8, pool_int8)

}  // namespace sieve
