#include "model.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "../kernels/elementary.hpp"

namespace sieve {
namespace {

constexpr std::size_t kPositions = 512;  // held ready; later ones are computed when needed

/// Finds what a layer is made of, under a common beginning of the names.
struct Finder {
  const Tensors& tensors;
  bool int8;
  const Kernels& kernels;

  Linear linear(const std::string& name, std::size_t channels, std::size_t depth,
                bool bias = true) const {
    return Linear::find(tensors, name, channels, depth, int8, kernels, bias);
  }

  Norm norm(const std::string& name, std::size_t width) const {
    return {find_vector(tensors, name + ".weight", width),
            find_vector(tensors, name + ".bias", width)};
  }

  FeedForward feed_forward(const std::string& layer, const Architecture& d) const {
    return {norm(layer + "feed_forward_norm", d.width),
            linear(layer + "feed_forward.hidden", d.hidden, d.width),
            linear(layer + "feed_forward.out", d.width, d.hidden)};
  }

  EncoderLayer encoder_layer(const std::string& layer, const Architecture& d) const {
    return {norm(layer + "attention_norm", d.width),
            linear(layer + "attention.qkv", 3 * d.width, d.width),
            linear(layer + "attention.out", d.width, d.width), feed_forward(layer, d)};
  }

  DecoderLayer decoder_layer(const std::string& layer, const Architecture& d) const {
    DecoderLayer found;
    found.norm = norm(layer + "mixer_norm", d.width);
    if (d.recurrent) {
      found.forget = linear(layer + "mixer.forget", d.width, d.width);
      found.value = linear(layer + "mixer.value", d.width, d.width, false);
    } else {
      found.qkv = linear(layer + "mixer.qkv", 3 * d.width, d.width);
      found.mixed_out = linear(layer + "mixer.out", d.width, d.width);
    }
    found.cross_norm = norm(layer + "cross_norm", d.width);
    found.query = linear(layer + "cross.query", d.width, d.width);
    found.key_value = linear(layer + "cross.key_value", 2 * d.width, d.width);
    found.out = linear(layer + "cross.out", d.width, d.width);
    found.feed_forward = feed_forward(layer, d);
    return found;
  }
};

void check(const Architecture& d) {
  constexpr std::size_t kMost = std::size_t{1} << 24;
  for (const std::size_t size : {d.src_vocab, d.tgt_vocab, d.encoder_layers, d.decoder_layers,
                                 d.width, d.hidden, d.heads}) {
    if (size == 0 || size > kMost) {
      throw ModelError("a dimension of the model is " + std::to_string(size) +
                       ", expected 1 to " + std::to_string(kMost));
    }
  }
  if (d.width % d.heads != 0 || d.width % 2 != 0 || d.head_hidden > kMost ||
      d.head_rank > d.width ||
      std::max(d.eos, d.start) >= static_cast<std::int32_t>(d.tgt_vocab) ||
      d.eos >= static_cast<std::int32_t>(d.src_vocab) || d.last_frequency == 0 ||
      d.alignment_layer >= d.decoder_layers || d.alignment_heads.size() != d.heads) {
    throw ModelError("the dimensions of the model contradict each other");
  }
}

}  // namespace

Model::Model(const Architecture& architecture, const Tensors& tensors, bool int8,
             const Kernels& kernels)
    : architecture_(architecture), kernels_(kernels) {
  check(architecture);
  const Architecture& d = architecture_;
  const Finder find{tensors, int8, kernels};
  tgt_embedding_ = Matrix::find(tensors, "tgt_embedding.weight", d.tgt_vocab, d.width, int8);
  src_embedding_ = d.tie == Architecture::Tie::kAll
                       ? tgt_embedding_
                       : Matrix::find(tensors, "src_embedding.weight", d.src_vocab, d.width, int8);
  if (d.tie == Architecture::Tie::kNone) {
    output_ = Matrix::find(tensors, "output.weight", d.tgt_vocab, d.width, int8);
  }
  const bool own = d.tie == Architecture::Tie::kNone;
  const std::string output = own ? "output" : "tgt_embedding";
  const bool fixed = (own ? output_ : tgt_embedding_).fix_input(tensors, output, kernels);
  output_bias_ = find_vector(tensors, fixed ? output + ".product_bias" : "output.bias", d.tgt_vocab);
  std::fill(output_bias_.data() + d.tgt_vocab, output_bias_.data() + padded(d.tgt_vocab),
            -std::numeric_limits<float>::infinity());
  for (std::size_t i = 0; i < d.encoder_layers; ++i) {
    encoder_.push_back(find.encoder_layer("encoder.layers." + std::to_string(i) + ".", d));
  }
  for (std::size_t i = 0; i < d.decoder_layers; ++i) {
    decoder_.push_back(find.decoder_layer("decoder.layers." + std::to_string(i) + ".", d));
  }
  if (!d.post_norm) {
    encoder_norm_ = find.norm("encoder.norm", d.width);
    decoder_norm_ = find.norm("decoder.norm", d.width);
  }
  if (d.head_rank != 0) {
    (own ? output_ : tgt_embedding_).keep_rows();
  }
  if (d.head != Architecture::Head::kNone) {
    head_ = SelectionHead(tensors, d, this->output(), int8, kernels);
  }
  make_positions();
}

void Model::make_positions() {
  const std::size_t width = architecture_.width, half = width / 2;
  frequencies_.grow(half);
  const auto last = static_cast<double>(architecture_.last_frequency);
  const auto factor = static_cast<float>(-logarithm(10000.0) / last);
  for (std::size_t i = 0; i < half; ++i) {
    frequencies_[i] = static_cast<float>(exponential(static_cast<float>(i) * factor));
  }
  Buffer<float> ready(kPositions * width);
  for (std::size_t position = 0; position < kPositions; ++position) {
    add_position(position, ready.data() + position * width);
  }
  positions_ = std::move(ready);
}

void Model::add_position(std::size_t position, float* row) const {
  const std::size_t width = architecture_.width, half = width / 2;
  if (position < positions_.size() / width) {
    const float* ready = positions_.data() + position * width;
    for (std::size_t i = 0; i < width; ++i) {
      row[i] += ready[i];
    }
    return;
  }
  for (std::size_t i = 0; i < half; ++i) {
    const float angle = static_cast<float>(position) * frequencies_[i];
    row[i] += static_cast<float>(sine(angle));
    row[half + i] += static_cast<float>(cosine(angle));
  }
}

void Model::embed_target(std::int32_t id, std::size_t position, float* row) const {
  if (id == kNoId) {
    std::fill(row, row + stride(), 0.0F);
  } else {
    tgt_embedding_.row(static_cast<std::size_t>(id), architecture_.embedding_factor, row);
  }
  add_position(position + architecture_.position_offset, row);
}

void Model::enter(const Norm& norm, const Linear& first, std::size_t rows, const float* x,
                  Workspace& work) const {
  if (!architecture_.post_norm) {
    float* normed = work.normed.grow(rows * stride());
    kernels_.layer_norm({x, rows, stride()}, weights(norm), normed);
    x = normed;
  }
  work.activations.set(kernels_, {x, rows, stride()}, first.input());
}

void Model::leave(const Norm& norm, std::size_t rows, float* x) const {
  if (architecture_.post_norm) {
    kernels_.layer_norm({x, rows, stride()}, weights(norm), x);
  }
}

const float* Model::decoded(std::size_t rows, const float* x, Workspace& work) const {
  if (architecture_.post_norm) {
    return x;
  }
  float* states = work.normed.grow(rows * stride());
  kernels_.layer_norm({x, rows, stride()}, weights(decoder_norm_), states);
  return states;
}

void Model::feed_forward(const FeedForward& layer, std::size_t rows, float* x,
                         Workspace& work) const {
  const std::size_t wide = padded(architecture_.hidden);
  enter(layer.norm, layer.hidden, rows, x, work);
  float* hidden = work.hidden.grow(rows * wide);
  work.activations.multiply(kernels_, layer.hidden.weight.weights(), hidden,
                            layer.hidden.finish(architecture_.activation));
  work.activations.set(kernels_, {hidden, rows, wide}, layer.out.input());
  work.activations.multiply(kernels_, layer.out.weight.weights(), x, layer.out.added());
  leave(layer.norm, rows, x);
}

void Model::encode(std::span<const std::int32_t> ids, Workspace& work, float* memory) const {
  const Architecture& d = architecture_;
  const std::size_t T = ids.size(), S = stride(), wide = padded(3 * d.width);
  float* x = work.x.grow(T * S);
  for (std::size_t t = 0; t < T; ++t) {
    src_embedding_.row(static_cast<std::size_t>(ids[t]), d.embedding_factor, x + t * S);
    add_position(t + d.position_offset, x + t * S);
  }
  float* qkv = work.wide.grow(T * wide);
  float* context = work.context.grow(T * S);
  float* scores = work.scores.grow(5 * padded(T));
  for (const EncoderLayer& layer : encoder_) {
    enter(layer.norm, layer.qkv, T, x, work);
    work.activations.multiply(kernels_, layer.qkv.weight.weights(), qkv, layer.qkv.finish());
    transpose_keys(qkv + d.width, wide, T, d.width, work.keys);
    const KeysValues past{work.keys.data(), qkv + 2 * d.width, wide, T, d.heads,
                          d.width / d.heads};
    kernels_.attend({qkv, T, wide}, past, scores, context, S, {});
    work.activations.set(kernels_, {context, T, S}, layer.out.input());
    work.activations.multiply(kernels_, layer.out.weight.weights(), x, layer.out.added());
    leave(layer.norm, T, x);
    feed_forward(layer.feed_forward, T, x, work);
  }
  if (d.post_norm) {
    std::copy(x, x + T * S, memory);
  } else {
    kernels_.layer_norm({x, T, S}, weights(encoder_norm_), memory);
  }
}

const SelectionHead& Model::head() const {
  if (architecture_.head == Architecture::Head::kNone) {
    throw ModelError("this model has no selection head (model.nvs_head is 'none')");
  }
  return head_;
}

void transpose_keys(const float* rows, std::size_t stride, std::size_t length, std::size_t width,
                    Buffer<float>& keys) {
  const std::size_t room = padded(length);
  float* to = keys.grow(width * room);
  for (std::size_t i = 0; i < width; ++i) {
    for (std::size_t t = 0; t < length; ++t) {
      to[i * room + t] = rows[t * stride + i];
    }
  }
}

}  // namespace sieve
