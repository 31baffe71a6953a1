// A model's tensors, found by name and checked, and matrices in either precision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "../kernels/kernels.hpp"
#include "buffer.hpp"

namespace sieve {

/// A model that cannot be used: damaged, incomplete or of another kind.
class ModelError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An array that someone else keeps alive.
struct Tensor {
  enum class Kind { kFloat, kByte };
  Kind kind = Kind::kFloat;
  const void* data = nullptr;
  std::vector<std::size_t> shape;
};

using Tensors = std::map<std::string, Tensor>;

/// The form in which a matrix wants the rows it is multiplied with.
struct Input {
  bool int8 = false;
  float multiplier = 0.0F;  // of every value, where the model fixes it; 0: from each row's largest

  bool operator==(const Input&) const = default;
};

/// A matrix in one of the two precisions, wherever it lies.
struct Weights {
  Int8Matrix int8;
  FloatMatrix floats;
};

/// W (channels, depth): a view of int8 weights, or fp32 weights packed into own memory.
class Matrix {
 public:
  Matrix() = default;

  /// Finds `name` (and its scales); checks shapes and that everything is finite.
  static Matrix find(const Tensors& tensors, const std::string& name, std::size_t channels,
                     std::size_t depth, bool int8);

  /// Where the model fixes the multiplier of the rows that this matrix `name` is multiplied with:
  /// products are then computed for these, with a bias of their own. Whether it does.
  bool fix_input(const Tensors& tensors, const std::string& name, const Kernels& kernels);

  bool is_int8() const { return weights_.int8.data != nullptr; }
  /// For products with rows of the form `input()`.
  const Weights& weights() const { return weights_; }
  Input input() const { return {is_int8(), multiplier_}; }
  std::size_t channels() const {
    return is_int8() ? weights_.int8.channels : weights_.floats.channels;
  }
  std::size_t depth() const { return is_int8() ? weights_.int8.depth : weights_.floats.depth; }

  /// Channels from `first` on, at most `count` of them; `first` a multiple of 64.
  Weights part(std::size_t first, std::size_t count) const;
  /// The same for rows whose multiplier is not fixed.
  Weights plain_part(std::size_t first, std::size_t count) const;

  /// Row `channel` as floats, times `factor`; zeros up to the padded depth.
  void row(std::size_t channel, float factor, float* out) const;

 private:
  Weights weights_;
  const float* plain_scale_ = nullptr;
  float multiplier_ = 0.0F;
  std::shared_ptr<Buffer<float>> shift_;
  std::shared_ptr<Buffer<float>> packed_;
};

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

/// Finds a vector of `size` values, padded with zeros to a multiple of 64 in own memory.
Buffer<float> find_vector(const Tensors& tensors, const std::string& name, std::size_t size);

/// Rows of activations in the form that a matrix wants.
class Activations {
 public:
  void set(const Kernels& kernels, const FloatRows& rows, const Input& input);
  /// The same rows for another matrix; they must still be where they were.
  void suit(const Kernels& kernels, const Input& input) {
    if (!(input == input_)) {
      set(kernels, floats_, input);
    }
  }
  /// out (rows, padded channels) = rows Wᵀ.
  void multiply(const Kernels& kernels, const Weights& w, float* out, Finish finish) const {
    if (input_.int8) {
      kernels.multiply_int8(int8_, w.int8, out, finish);
    } else {
      kernels.multiply_float(floats_, w.floats, out, finish);
    }
  }
  /// best (padded channels): the maximum over rows.
  void pool(const Kernels& kernels, const Weights& w, float* best) const {
    if (input_.int8) {
      kernels.pool_int8(int8_, w.int8, best);
    } else {
      kernels.pool_float(floats_, w.floats, best);
    }
  }

 private:
  FloatRows floats_;
  Int8Rows int8_;
  Input input_;
  Buffer<std::int8_t> values_;
  Buffer<float> scale_;
  Buffer<std::int32_t> offset_;
};

}  // namespace sieve
