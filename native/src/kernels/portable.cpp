#include <cstring>

#include "kernels.hpp"

#define SIEVE_LANES 4

namespace sieve {
namespace {

#include "vectors.inl"
#include "floats.inl"
#include "attention.inl"

typedef std::int16_t Shorts __attribute__((vector_size(4 * SIEVE_LANES)));

/// For any CPU: products of a stored weight and a value fit 16 bits.
struct Isa {
  static constexpr std::size_t kRows = 4;
  static constexpr std::size_t kVectors = 2;
  static constexpr bool kUnsigned = true;
  struct Row {
    Shorts even, odd;  // values 0 and 2, values 1 and 3
  };
  static Shorts pairs(std::int8_t first, std::int8_t second) {
    const auto low = static_cast<std::uint16_t>(std::int16_t{first});
    const auto high = static_cast<std::uint16_t>(std::int16_t{second});
    const std::uint32_t both = low | static_cast<std::uint32_t>(high) << 16;
    return reinterpret_cast<Shorts>(Integers{} + static_cast<std::int32_t>(both));
  }
  static Row row(const std::int8_t* p) { return {pairs(p[0], p[2]), pairs(p[1], p[3])}; }
  static Integers weights(Integers stored) { return stored; }
  static Integers dot(Integers sums, Integers stored, const Row& a) {
    const Integers low = stored & 0x00FF00FF, high = (stored >> 8) & 0x00FF00FF;
    const Integers even = reinterpret_cast<Integers>(reinterpret_cast<Shorts>(low) * a.even);
    const Integers odd = reinterpret_cast<Integers>(reinterpret_cast<Shorts>(high) * a.odd);
    return sums + ((even << 16) >> 16) + (even >> 16) + ((odd << 16) >> 16) + (odd >> 16);
  }
};
#include "int8.inl"

}  // namespace

#include "table.inl"
SIEVE_KERNEL_TABLE(kPortable, "portable", multiply_int8, pool_int8)

}  // namespace sieve
