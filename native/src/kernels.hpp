// The lowest floor of the native core: arithmetic on plain arrays. Knows no models, no Python.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sieve {

// Sum of a[i] * b[i], exact in 32 bits for n <= 131072 (2^31 / (128 * 128)).
std::int32_t dot_int8(const std::int8_t* a, const std::int8_t* b, std::size_t n);

}  // namespace sieve
