#include "decoder.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sieve {

void Decoder::start(const Model& model, const FloatRows& memory, std::size_t rows,
                    Workspace& work) {
  const Architecture& d = model.architecture();
  const std::size_t S = model.stride(), layers = model.decoder().size(), length = memory.rows;
  model_ = &model;
  kernels_ = &model.kernels();
  length_ = length;
  rows_ = rows;
  position_ = 0;
  remembers_ = false;
  for (auto* buffers : {&keys_, &keys_values_, &before_, &after_, &memories_, &past_}) {
    buffers->resize(layers);
  }
  look(rows);
  gates_.grow(2 * rows * S);
  work.activations.set(*kernels_, memory, model.decoder().front().key_value.input());
  for (std::size_t i = 0; i < layers; ++i) {
    const Linear& project = model.decoder()[i].key_value;
    const std::size_t wide = padded(2 * d.width);
    float* both = keys_values_[i].grow(length * wide);
    work.activations.suit(*kernels_, project.input());
    work.activations.multiply(*kernels_, project.weight.weights(), both, project.finish());
    transpose_keys(both, wide, length, d.width, keys_[i]);
    if (d.recurrent) {
      float* cells = before_[i].grow(rows * S);
      std::fill(cells, cells + rows * S, 0.0F);
      after_[i].grow(rows * S);
    }
  }
}

/// Where the alignment heads' positions go.
void Decoder::look(std::size_t rows) {
  const std::vector<std::uint8_t>& heads = model_->architecture().alignment_heads;
  const auto first = std::find(heads.begin(), heads.end(), 1);
  look_ = {.positions = focus_.grow(rows),
           .head = static_cast<std::size_t>(first - heads.begin()),
           .heads = nullptr,
           .sums = nullptr};
  if (std::count(heads.begin(), heads.end(), 1) > 1) {
    look_.heads = heads.data();
    look_.sums = shares_.grow(5 * padded(length_));
  }
}

const float* Decoder::step(std::span<const std::int32_t> ids,
                           std::span<const std::int32_t> parents, Workspace& work) {
  const Architecture& d = model_->architecture();
  const std::size_t n = ids.size(), S = model_->stride();
  float* x = work.x.grow(n * S);
  for (std::size_t r = 0; r < n; ++r) {
    model_->embed_target(ids[r], position_, x + r * S);
  }
  if (!d.recurrent) {
    trace(parents);
  }
  float* query = work.wide.grow(n * padded(3 * d.width));
  float* context = work.context.grow(n * S);
  float* scores = work.scores.grow(std::max(5 * padded(length_), position_ + 1));
  const std::size_t layers = model_->decoder().size();
  for (std::size_t i = 0; i < layers; ++i) {
    const DecoderLayer& layer = model_->decoder()[i];
    model_->enter(layer.norm, d.recurrent ? layer.forget : layer.qkv, n, x, work);
    if (d.recurrent) {
      recur(i, parents, x, work);
    } else {
      attend_past(i, n, x, work);
    }
    model_->leave(layer.norm, n, x);
    model_->enter(layer.cross_norm, layer.query, n, x, work);
    work.activations.multiply(*kernels_, layer.query.weight.weights(), query, layer.query.finish());
    const KeysValues past{keys_[i].data(), keys_values_[i].data() + d.width, padded(2 * d.width),
                          length_, d.heads, d.width / d.heads};
    kernels_->attend({query, n, S}, past, scores, context, S,
                     i == d.alignment_layer ? look_ : Focus{});
    work.activations.set(*kernels_, {context, n, S}, layer.out.input());
    work.activations.multiply(*kernels_, layer.out.weight.weights(), x, layer.out.added());
    model_->leave(layer.cross_norm, n, x);
    model_->feed_forward(layer.feed_forward, n, x, work);
  }
  if (remembers_) {
    keep(parents);
  }
  ++position_;
  return model_->decoded(n, x, work);
}

/// Keeps what `rewind` needs of this step.
void Decoder::keep(std::span<const std::int32_t> parents) {
  parents_.resize(position_);
  parents_.emplace_back(parents.begin(), parents.end());
  const std::size_t size = rows_ * model_->stride();
  for (std::size_t i = 0; model_->architecture().recurrent && i < before_.size(); ++i) {
    const float* cells = before_[i].data();
    std::copy(cells, cells + size, memories_[i].grow((position_ + 1) * size) + position_ * size);
  }
}

void Decoder::rewind(std::size_t steps) {
  if (steps == position_) {
    return;
  }
  const std::size_t size = rows_ * model_->stride();
  for (std::size_t i = 0; model_->architecture().recurrent && i < before_.size(); ++i) {
    const float* cells = memories_[i].data() + (steps - 1) * size;
    std::copy(cells, cells + size, before_[i].data());
  }
  for (position_ = 0; position_ < steps; ++position_) {
    if (!model_->architecture().recurrent) {
      trace(parents_[position_]);
    }
  }
}

void Decoder::recur(std::size_t index, std::span<const std::int32_t> parents, float* x,
                    Workspace& work) {
  const DecoderLayer& layer = model_->decoder()[index];
  const std::size_t S = model_->stride();
  float* forget = gates_.data();
  float* value = forget + rows_ * S;
  work.activations.multiply(*kernels_, layer.forget.weight.weights(), forget,
                            layer.forget.finish());
  work.activations.suit(*kernels_, layer.value.input());
  work.activations.multiply(*kernels_, layer.value.weight.weights(), value,
                            layer.value.finish());
  for (std::size_t r = 0; r < parents.size(); ++r) {
    const float* before = before_[index].data() + static_cast<std::size_t>(parents[r]) * S;
    kernels_->recur(forget + r * S, value + r * S, before, after_[index].data() + r * S, x + r * S,
                    S);
  }
  std::swap(before_[index], after_[index]);
}

void Decoder::trace(std::span<const std::int32_t> parents) {
  ancestors_.grow((position_ + 1) * rows_);
  next_ancestors_.grow((position_ + 1) * rows_);
  for (std::size_t t = 0; t < position_; ++t) {
    for (std::size_t r = 0; r < parents.size(); ++r) {
      next_ancestors_[t * rows_ + r] =
          ancestors_[t * rows_ + static_cast<std::size_t>(parents[r])];
    }
  }
  for (std::size_t r = 0; r < parents.size(); ++r) {
    next_ancestors_[position_ * rows_ + r] = static_cast<std::int32_t>(r);
  }
  std::swap(ancestors_, next_ancestors_);
}

void Decoder::attend_past(std::size_t index, std::size_t rows, float* x, Workspace& work) {
  const Architecture& d = model_->architecture();
  const DecoderLayer& layer = model_->decoder()[index];
  const std::size_t wide = padded(3 * d.width), S = model_->stride(), head = d.width / d.heads;
  float* qkv = work.wide.grow(rows * wide);
  work.activations.multiply(*kernels_, layer.qkv.weight.weights(), qkv, layer.qkv.finish());
  float* past = past_[index].grow((position_ + 1) * rows_ * 2 * d.width);
  for (std::size_t r = 0; r < rows; ++r) {
    const float* from = qkv + r * wide + d.width;
    std::copy(from, from + 2 * d.width, past + (position_ * rows_ + r) * 2 * d.width);
  }
  float* context = work.context.grow(rows * S);
  float* scores = work.scores.grow(position_ + 1);
  const float factor = 1.0F / std::sqrt(static_cast<float>(head));
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t h = 0; h < d.heads; ++h) {
      float* out = context + r * S + h * head;
      for (std::size_t t = 0; t <= position_; ++t) {
        const auto row = static_cast<std::size_t>(ancestors_[t * rows_ + r]);
        const float* key = past + (t * rows_ + row) * 2 * d.width + h * head;
        scores[t] = kernels_->dot(qkv + r * wide + h * head, key, head) * factor;
      }
      kernels_->softmax(scores, position_ + 1);
      std::fill(out, out + head, 0.0F);
      for (std::size_t t = 0; t <= position_; ++t) {
        const auto row = static_cast<std::size_t>(ancestors_[t * rows_ + r]);
        const float* value = past + (t * rows_ + row) * 2 * d.width + d.width + h * head;
        kernels_->add_scaled(value, scores[t], out, head);
      }
    }
  }
  work.activations.set(*kernels_, {context, rows, S}, layer.mixed_out.input());
  work.activations.multiply(*kernels_, layer.mixed_out.weight.weights(), x,
                            layer.mixed_out.added());
}

}  // namespace sieve
