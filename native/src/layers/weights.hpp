// A model's tensors, found by name and checked, and matrices in either precision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
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

/// Whether matrices lie in the order of the kernels, to be used in place.
bool in_place(const Tensors& tensors);

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

/// Four bytes of int8 weights at a time: where they begin, and from one four to the next.
struct Quads {
  const std::uint32_t* from = nullptr;
  std::size_t step = 1;
};

/// W (channels, depth): a view of int8 or packed fp32 weights, or fp32 weights packed into own memory.
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

  /// This matrix times the transpose of another, in the same precision and in own memory.
  Matrix multiplied(const Matrix& other, const Kernels& kernels) const;

  /// Keeps int8 rows apart, too, where they are gathered while all of them are far away: a row of the
  /// stored order lies in as many lines of memory as sixteen rows do.
  void keep_rows();

  /// The first four bytes of a row, and how far it is to the next ones; of int8 weights.
  Quads quads(std::size_t channel) const;
  /// Row `channel` as floats, times `factor`; zeros up to the padded depth.
  void row(std::size_t channel, float factor, float* out) const;

 private:
  Weights weights_;
  const float* plain_scale_ = nullptr;
  float multiplier_ = 0.0F;
  std::shared_ptr<Buffer<float>> shift_;
  std::shared_ptr<Buffer<float>> packed_;
  std::shared_ptr<Buffer<std::uint8_t>> bytes_;
  std::shared_ptr<Buffer<std::uint32_t>> rows_;  // (channels, padded depth / 4), four bytes in each
};

/// A layer: a matrix and what is added to its products.
struct Linear {
  Matrix weight;
  Buffer<float> bias;

  /// Finds `name.weight` and what belongs to it.
  static Linear find(const Tensors& tensors, const std::string& name, std::size_t channels,
                     std::size_t depth, bool int8, const Kernels& kernels, bool bias = true);

  Input input() const { return weight.input(); }
  Finish finish(Activation activation = {}) const { return {bias.data(), activation, false}; }
  /// Adds the product to what is there.
  Finish added() const { return {bias.data(), {}, true}; }
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
