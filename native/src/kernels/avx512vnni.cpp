#include <immintrin.h>

#include <cstring>

#include "kernels.hpp"

#define SIEVE_LANES 16

namespace sieve {
namespace {

#include "vectors.inl"
#include "floats.inl"
#include "attention.inl"

#include "vnni512.inl"
#include "int8.inl"

}  // namespace

#include "table.inl"
SIEVE_KERNEL_TABLE(kAvx512Vnni, "avx512vnni", multiply_int8, pool_int8)

}  // namespace sieve
