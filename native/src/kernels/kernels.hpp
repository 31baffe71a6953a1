// Arithmetic on rows: one table of functions for each kind of CPU, chosen once.
//
// Matrices are stored for products with few rows: 64 output channels together, so that one stream
// of memory serves them all. Rows of activations have a stride that is a multiple of 64, with zeros
// behind their last value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace sieve {

inline constexpr std::size_t kGroup = 64;

/// The least multiple of 64 that holds n.
constexpr std::size_t padded(std::size_t n) { return (n + kGroup - 1) / kGroup * kGroup; }

/// W (channels, depth) in int8, stored as value + 128 in the order [channels/64][depth/4][64][4].
struct Int8Matrix {
  const std::uint8_t* data = nullptr;
  const float* scale = nullptr;  // one for each channel, 0 behind the last one
  const float* shift = nullptr;  // of rows with a fixed multiplier: added to sums before the scale
  std::size_t channels = 0;
  std::size_t depth = 0;
};

/// W (channels, depth) in fp32 in the order [channels/64][depth][64].
struct FloatMatrix {
  const float* data = nullptr;
  std::size_t channels = 0;
  std::size_t depth = 0;
};

/// Rows of activations; those in int8 have one scale for each row, 1 where the matrix has it.
struct FloatRows {
  const float* values = nullptr;
  std::size_t rows = 0;
  std::size_t stride = 0;
};
struct Int8Rows {
  const std::int8_t* values = nullptr;
  const float* scale = nullptr;
  const std::int32_t* offset = nullptr;  // 128 times the sum of a row
  std::size_t rows = 0;
  std::size_t stride = 0;
};

/// A function of each value: none, max(x, 0), or x · σ(slope · x), which is swish and nearly GELU.
struct Activation {
  enum class Kind { kNone, kRelu, kSigmoid };
  Kind kind = Kind::kNone;
  float slope = 1.0F;
};

/// What becomes of a product before it is stored.
struct Finish {
  const float* bias = nullptr;
  Activation activation{};
  bool add = false;  // to what is there
};

/// A layer norm over the first `width` values of a row.
struct NormWeights {
  const float* weight = nullptr;
  const float* bias = nullptr;
  std::size_t width = 0;
  float epsilon = 0.0F;
};

/// Which heads' attention is asked for, and where the positions with the highest weight go.
struct Focus {
  std::int32_t* positions = nullptr;  // one a row; none: nobody asks
  std::size_t head = 0;               // the only head, or
  const std::uint8_t* heads = nullptr;  // a flag for each head: their mean counts,
  float* sums = nullptr;                // with room for 5 · padded length
};

/// Keys and values of one sequence: keys for each head (width, padded length), values as rows of
/// all heads, with room to read a vector beyond the last one.
struct KeysValues {
  const float* keys = nullptr;
  const float* values = nullptr;
  std::size_t value_stride = 0;
  std::size_t length = 0;
  std::size_t heads = 0;
  std::size_t width = 0;  // of a head
};

struct Kernels {
  std::string_view name;

  /// Rows of floats to int8, values of at most 127 in magnitude, round half to even. A value is
  /// multiplied with `multiplier`; where that is 0, with 127 / the largest of its row.
  void (*quantize)(const FloatRows& x, float multiplier, std::int8_t* values, float* scale,
                   std::int32_t* offset);
  /// out (rows, padded channels) = x Wᵀ.
  void (*multiply_int8)(const Int8Rows& x, const Int8Matrix& w, float* out, Finish finish);
  void (*multiply_float)(const FloatRows& x, const FloatMatrix& w, float* out, Finish finish);
  /// best (padded channels) = maximum over rows of x Wᵀ; the product itself is never stored.
  void (*pool_int8)(const Int8Rows& x, const Int8Matrix& w, float* best);
  void (*pool_float)(const FloatRows& x, const FloatMatrix& w, float* best);
  /// out = (x − mean) / sqrt(variance + epsilon) · weight + bias; may be x itself.
  void (*layer_norm)(const FloatRows& x, const NormWeights& norm, float* out);
  /// Attention of rows of queries to the same keys; `scores` has room for 5 · padded length.
  void (*attend)(const FloatRows& queries, const KeysValues& past, float* scores, float* out,
                 std::size_t out_stride, const Focus& focus);
  /// c = σ(f) c' + (1 − σ(f)) v; x += ReLU(c), over n values.
  void (*recur)(const float* forget, const float* value, const float* before, float* after,
                float* x, std::size_t n);
  float (*dot)(const float* a, const float* b, std::size_t n);
  /// out += factor · x
  void (*add_scaled)(const float* x, float factor, float* out, std::size_t n);
  /// In place, over n values; what follows them up to a multiple of 16 is overwritten.
  void (*softmax)(float* x, std::size_t n);
  /// Maxima of chunks of 64 of n values (n a multiple of 64); returns the highest.
  float (*chunk_maxima)(const float* x, std::size_t n, float* maxima);
  /// Sum of exp(x − top) over n values (n a multiple of 64).
  float (*sum_exp)(const float* x, std::size_t n, float top);
  /// Reads memory as fast as vectors can be loaded: the floor of any step. Returns a checksum.
  std::uint64_t (*read)(const std::uint8_t* data, std::size_t bytes);
};

extern const Kernels kPortable;
#ifdef SIEVE_X86
extern const Kernels kAvx2;
extern const Kernels kAvxVnni;
extern const Kernels kAvx512Vnni;
extern const Kernels kAmx;
#endif
#ifdef SIEVE_ARM
extern const Kernels kDotprod;
extern const Kernels kI8mm;
#endif

/// Those this CPU can run, best first.
std::span<const Kernels* const> available_kernels();
/// The best, or the one that the environment variable SIEVE_KERNELS names.
const Kernels& default_kernels();
/// By name; throws std::invalid_argument where this CPU has none of that name.
const Kernels& kernels_named(std::string_view name);

}  // namespace sieve
