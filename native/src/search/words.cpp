#include "words.hpp"

#include <algorithm>
#include <limits>

namespace sieve {

void OutputWords::choose(const Model& model, const Kernels& kernels, const Selection& selection,
                         std::span<const std::int32_t> own,
                         std::span<const std::int32_t> required, const float* memory,
                         std::size_t length, Workspace& work) {
  const std::size_t V = model.dimensions().tgt_words;
  model_ = &model;
  chosen_.assign(V, selection.everything ? 1 : 0);
  if (selection.neural) {
    float* logits = work.best.grow(padded(V));
    model.pooled_logits(kernels, memory, length, work, logits);
    for (std::size_t i = 0; i < V; ++i) {
      chosen_[i] |= static_cast<std::uint8_t>(logits[i] > selection.log_odds);
    }
  }
  for (const auto words : {own, selection.include}) {
    for (const std::int32_t id : words) {
      chosen_[static_cast<std::size_t>(id)] = 1;
    }
  }
  for (const std::int32_t id : selection.exclude) {
    chosen_[static_cast<std::size_t>(id)] = 0;
  }
  for (const std::int32_t id : required) {
    chosen_[static_cast<std::size_t>(id)] = 1;
  }
  chosen_[static_cast<std::size_t>(kEos)] = 1;
  ids_.resize(V);
  size_ = 0;
  for (std::size_t i = 0; i < V; ++i) {
    ids_[size_] = static_cast<std::int32_t>(i);
    size_ += chosen_[i];
  }
  all_ = size_ == V;
  gathered_ = 2 * size_ <= V;
}

void OutputWords::load(const Model& model) {
  const std::size_t V = model.dimensions().tgt_words;
  columns_ = padded(gathered_ ? size_ : V);
  if (all_) {
    return;
  }
  // rows are gathered where they are few; else other words are masked by their bias
  float* bias = bias_.grow(columns_);
  const float none = -std::numeric_limits<float>::infinity();
  std::fill(bias, bias + columns_, none);
  const std::span<const std::int32_t> ids(ids_.data(), size_);
  for (std::size_t i = 0; i < size_; ++i) {
    const auto id = static_cast<std::size_t>(ids[i]);
    bias[gathered_ ? i : id] = model.output_bias()[id];
  }
  if (gathered_) {
    rows_.gather(model.output(), ids);
  }
}

std::int64_t OutputWords::column(std::int32_t id) const {
  if (!gathered_) {
    return chosen_[static_cast<std::size_t>(id)] != 0 ? id : -1;
  }
  const auto end = ids_.begin() + static_cast<std::ptrdiff_t>(size_);
  const auto found = std::lower_bound(ids_.begin(), end, id);
  return found != end && *found == id ? found - ids_.begin() : -1;
}

void OutputWords::logits(const Kernels& kernels, const FloatRows& states, Workspace& work,
                         float* out) const {
  work.activations.set(kernels, states, model_->int8());
  const Finish finish{all_ ? model_->output_bias() : bias_.data(), false, false};
  if (gathered_) {
    work.activations.multiply(kernels, rows_, out, finish);
  } else {
    work.activations.multiply(kernels, model_->output(), out, finish);
  }
}

}  // namespace sieve
