// The selection head: how much a source sentence needs each target token.
//
// A token's logit is the maximum over source positions of a product of its row with the position's
// state, plus a bias. A factored head multiplies in low rank; with a slack, it looks again in full
// width, and a logit is the lower one of the second look's and of the first look's plus the slack:
// above a threshold are then those that two looks select, and the first look gives a bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "../layers/gathered_rows.hpp"
#include "architecture.hpp"

namespace sieve {

/// A sentence's states as the head's looks multiply with them.
struct HeadInput {
  Activations first, second;
  Buffer<float> hidden, adapted, narrow;
};

class SelectionHead {
 public:
  SelectionHead() = default;
  /// Finds the head of a model; `output` has the rows of the output layer.
  SelectionHead(const Tensors& tensors, const Architecture& architecture, const Matrix& output,
                bool int8, const Kernels& kernels);

  /// Whether it votes with the rows of the output layer.
  bool is_tied() const { return tied_; }
  bool looks_twice() const { return looks_twice_; }
  /// Bytes of weights that `vote` reads for a token.
  std::size_t bytes_per_token() const {
    return padded(voters().depth()) * (voters().is_int8() ? 1 : sizeof(float));
  }

  /// Makes ready to vote on a sentence.
  void prepare(const FloatRows& memory, HeadInput& input) const;
  /// Logits of `count` tokens from `first` (a multiple of 64) on; bounds where it looks twice.
  void vote(std::size_t first, std::size_t count, const HeadInput& input, float* logits) const;
  /// The same of some tokens, whose rows are gathered; room for a multiple of 64.
  void vote_among(std::span<const std::int32_t> tokens, const HeadInput& input, GatheredRows& rows,
                  float* logits) const;
  /// What the second look says of some tokens.
  void look_again(std::span<const std::int32_t> tokens, const HeadInput& input, GatheredRows& rows,
                  float* logits) const;
  /// The logits of all tokens, or what its last look alone says; room for a multiple of 64.
  void all(const HeadInput& input, bool last_look, Buffer<float>& scratch, float* logits) const;

 private:
  /// The rows of the first look.
  const Matrix& voters() const { return factored_ ? factors_ : words_; }
  void pool_among(const Matrix& from, std::span<const std::int32_t> tokens,
                  const Activations& states, const Buffer<float>& bias, GatheredRows& rows,
                  float* logits) const;

  const Kernels* kernels_ = nullptr;
  bool tied_ = false, factored_ = false, looks_twice_ = false;
  std::size_t width_ = 0, tokens_ = 0;
  Linear hidden_, out_, positions_;
  Matrix words_, factors_;
  Buffer<float> bias_, first_bias_;
};

}  // namespace sieve
