// int8 products on tile registers; everything else as with AVX-512.
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

constexpr std::size_t kTile = 16;    // rows of a tile, and channels of one
constexpr std::size_t kTileDepth = 64;
constexpr std::size_t kFewRows = 8;  // below, vectors are as fast

struct alignas(64) TileConfig {
  std::uint8_t palette = 1, start = 0, reserved[14] = {};
  std::uint16_t bytes[16] = {};
  std::uint8_t rows[16] = {};
};

/// Tiles 0 to 3: sums of two blocks of rows and two of channels; 4 and 5: rows; 6 and 7: weights.
void configure(std::size_t first, std::size_t second) {
  TileConfig config;
  for (int i = 0; i < 8; ++i) {
    config.bytes[i] = kTileDepth;
    config.rows[i] = kTile;
  }
  config.rows[0] = config.rows[1] = config.rows[4] = static_cast<std::uint8_t>(first);
  config.rows[2] = config.rows[3] = config.rows[5] = static_cast<std::uint8_t>(second);
  _tile_loadconfig(&config);
}

/// Sums (32, 32) of up to 32 rows and 32 channels.
void tile_sums(const std::int8_t* x, std::size_t stride, const std::uint8_t* w, bool both,
               std::int32_t* sums) {
  constexpr std::size_t kBytes = 4 * kGroup;  // from 4 values of a channel to the next 4
  const std::int8_t* below = x + kTile * stride;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (std::size_t k = 0; k < stride; k += kTileDepth) {
    const std::uint8_t* from = w + k * kGroup;
    for (std::size_t line = 0; line < kTile; ++line) {  // the same rows of the next group
      __builtin_prefetch(from + line * kBytes + kGroup * stride, 0, 2);
      __builtin_prefetch(from + line * kBytes + kGroup * stride + 4 * kTile, 0, 2);
    }
    _tile_loadd(6, from, kBytes);
    _tile_loadd(7, from + 4 * kTile, kBytes);
    _tile_loadd(4, x + k, stride);
    _tile_dpbsud(0, 4, 6);
    _tile_dpbsud(1, 4, 7);
    if (both) {
      _tile_loadd(5, below + k, stride);
      _tile_dpbsud(2, 5, 6);
      _tile_dpbsud(3, 5, 7);
    }
  }
  constexpr std::size_t kSumBytes = 2 * kTile * sizeof(std::int32_t);
  _tile_stored(0, sums, kSumBytes);
  _tile_stored(1, sums + kTile, kSumBytes);
  if (both) {
    _tile_stored(2, sums + 2 * kTile * kTile, kSumBytes);
    _tile_stored(3, sums + 2 * kTile * kTile + kTile, kSumBytes);
  }
}

/// As `int8_product`.
template <class Use>
void tile_product(const Int8Rows& x, const Int8Matrix& w, const Use& use) {
  alignas(64) std::int32_t sums[4 * kTile * kTile];
  for (std::size_t row = 0; row < x.rows; row += 2 * kTile) {
    const std::size_t rows = x.rows - row < 2 * kTile ? x.rows - row : 2 * kTile;
    const bool both = rows > kTile;
    configure(both ? kTile : rows, both ? rows - kTile : 1);
    for (std::size_t column = 0; column < padded(w.channels); column += 2 * kTile) {
      const std::size_t lane = column % kGroup;
      const std::uint8_t* from = w.data + (column - lane) * x.stride + 4 * lane;
      tile_sums(x.values + row * x.stride, x.stride, from, both, sums);
      for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t c = 0; c < 2 * kTile; c += kLanes) {
          const Integers exact =
              reinterpret_cast<Integers>(
                  load(reinterpret_cast<const float*>(sums + r * 2 * kTile + c))) -
              x.offset[row + r];
          const Vector values[1] = {__builtin_convertvector(exact, Vector) * x.scale[row + r]};
          use(row + r, column + c, values);
        }
      }
    }
  }
  _tile_release();
}

void multiply_tiles(const Int8Rows& x, const Int8Matrix& w, float* out, Finish finish) {
  if (x.rows < kFewRows) {
    multiply_int8(x, w, out, finish);
    return;
  }
  storing(w, out, finish, [&](const auto& store) { tile_product(x, w, store); });
}

void pool_tiles(const Int8Rows& x, const Int8Matrix& w, float* best) {
  if (x.rows < kFewRows) {
    pool_int8(x, w, best);
    return;
  }
  fill(best, best + padded(w.channels), -kInfinity);
  tile_product(x, w, Highest{best});
  scale_all(w, best);
}

}  // namespace

#include "table.inl"
SIEVE_KERNEL_TABLE(kAmx, "amx", multiply_tiles, pool_tiles)

}  // namespace sieve
