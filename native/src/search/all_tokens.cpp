#include "all_tokens.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "../kernels/elementary.hpp"

namespace sieve {

constexpr std::size_t kNear = std::size_t{1} << 18;  // bytes of weights that stay in a cache
constexpr float kNever = -std::numeric_limits<float>::infinity();

void AllTokens::start(const Model& model, std::span<const std::int32_t> exclude,
                      std::span<const std::int32_t> prefix) {
  model_ = &model;
  bias_ = model.output_bias();
  if (exclude.empty()) {
    return;
  }
  const std::size_t columns = padded(model.architecture().tgt_vocab);
  float* masked = masked_.grow(columns);
  std::copy(bias_, bias_ + columns, masked);
  for (const std::int32_t id : exclude) {
    if (id != model.architecture().eos &&
        std::find(prefix.begin(), prefix.end(), id) == prefix.end()) {
      masked[static_cast<std::size_t>(id)] = kNever;
    }
  }
  bias_ = masked;
}

void AllTokens::check(const FloatRows& states, std::span<const std::int32_t> chosen,
                      Workspace& work, const Judge& judge) {
  const Kernels& kernels = model_->kernels();
  const std::size_t V = model_->architecture().tgt_vocab, S = model_->stride();
  const std::size_t block = std::max(kGroup, kNear / S / kGroup * kGroup);
  float* logits = logits_.grow(states.rows * block);
  float* maxima = maxima_.grow(block / kGroup);
  rows_.assign(states.rows, {kNever, kNever, 0.0, {}});
  work.activations.set(kernels, states, model_->output().input());
  for (std::size_t first = 0; first < V; first += block) {
    const std::size_t columns = padded(std::min(block, V - first));
    work.activations.multiply(kernels, model_->output().part(first, block), logits,
                              {bias_ + first, {}, false});
    for (std::size_t r = 0; r < states.rows; ++r) {
      float* from = logits + r * columns;
      Row& row = rows_[r];
      if (!chosen.empty() && static_cast<std::size_t>(chosen[r]) - first < columns) {
        row.chosen = from[static_cast<std::size_t>(chosen[r]) - first];
      }
      hide(first, columns, from, row);
      const float top = kernels.chunk_maxima(from, columns, maxima);
      judge({r, first, columns, from, maxima, top});
      if (top > row.top) {
        row.sum *= exponential(static_cast<double>(row.top) - top);
        row.top = top;
      }
      if (row.top > kNever) {
        row.sum += kernels.sum_exp(from, columns, row.top);
      }
    }
  }
  for (Row& row : rows_) {
    for (const float logit : row.hidden) {
      row.sum += exponential(static_cast<double>(logit) - row.top);
    }
  }
}

/// Takes tokens that no translation contains out of a row; they count only in its sum.
void AllTokens::hide(std::size_t first, std::size_t columns, float* logits, Row& row) const {
  for (const std::int32_t id : model_->architecture().never) {
    const std::size_t column = static_cast<std::size_t>(id) - first;  // large where it is before
    if (column < columns) {
      row.hidden.push_back(std::exchange(logits[column], kNever));
    }
  }
}

float AllTokens::log_sum(std::size_t row) const {
  return rows_[row].top + static_cast<float>(logarithm(rows_[row].sum));
}

}  // namespace sieve
