// Rows of decoder states against all tokens in one product: what a draft is checked with.
//
// Logits of a block of tokens at a time are kept, no more, so that they stay in a near cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "../model/model.hpp"

namespace sieve {

/// Some of a row's logits: those of the tokens from id `first` on, −inf for what is never said.
struct LogitBlock {
  std::size_t row, first, columns;
  const float* logits;
  const float* maxima;  // of chunks of 64
  float top;            // the highest
};

class AllTokens {
 public:
  using Judge = std::function<void(const LogitBlock&)>;

  /// For one sentence: excluded tokens do not exist, unless its prefix has them.
  void start(const Model& model, std::span<const std::int32_t> exclude,
             std::span<const std::int32_t> prefix);
  /// Shows all blocks of all rows to a judge. `chosen`: a token of each row, or none at all.
  void check(const FloatRows& states, std::span<const std::int32_t> chosen, Workspace& work,
             const Judge& judge);

  /// After a check: log Σ exp of a row's logits, and the logit of its chosen token.
  float log_sum(std::size_t row) const;
  float chosen(std::size_t row) const { return rows_[row].chosen; }

 private:
  struct Row {
    float top, chosen;
    double sum;                 // of exp(logit − top)
    std::vector<float> hidden;  // logits of tokens that no translation contains: they count
  };

  void hide(std::size_t first, std::size_t columns, float* logits, Row& row) const;

  const Model* model_ = nullptr;
  const float* bias_ = nullptr;
  std::vector<Row> rows_;
  Buffer<float> logits_, maxima_, masked_;
};

}  // namespace sieve
