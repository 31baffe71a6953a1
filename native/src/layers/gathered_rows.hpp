// Rows of a matrix that are used together, brought together.
#pragma once

#include <cstdint>
#include <span>

#include "weights.hpp"

namespace sieve {

/// Some rows of a matrix, gathered into memory that is used again and again.
class GatheredRows {
 public:
  /// Begins anew with no rows; `plain`: for rows of activations whose multiplier is not fixed.
  void start(const Matrix& from, bool plain = false);
  /// Gathers more rows behind those that are there.
  void append(const Matrix& from, std::span<const std::int32_t> channels);

  const Weights& weights() const { return weights_; }

 private:
  Weights weights_;
  bool plain_ = false;
  Buffer<std::uint8_t> bytes_;
  Buffer<float> values_, scale_, shift_;
};

}  // namespace sieve
