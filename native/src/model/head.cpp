#include "head.hpp"

#include <algorithm>
#include <string>

namespace sieve {

SelectionHead::SelectionHead(const Tensors& tensors, const Architecture& d, const Matrix& output,
                             bool int8, const Kernels& kernels)
    : kernels_(&kernels),
      tied_(d.head == Architecture::Head::kTied),
      factored_(d.head_rank != 0),
      looks_twice_(d.head_looks_twice),
      width_(d.width),
      tokens_(d.tgt_vocab) {
  const auto linear = [&](const std::string& name, std::size_t channels, std::size_t depth,
                          bool bias) {
    return Linear::find(tensors, name, channels, depth, int8, kernels, bias);
  };
  bias_ = find_vector(tensors, "nvs.bias", tokens_);
  first_bias_ = find_vector(tensors, "nvs.bias", tokens_);
  if (tied_) {
    hidden_ = linear("nvs.hidden", d.head_hidden, width_, true);
    out_ = linear("nvs.out", width_, d.head_hidden, true);
    words_ = output;
  } else {
    words_ = Matrix::find(tensors, "nvs.weight", tokens_, width_, int8);
  }
  if (factored_) {
    positions_ = linear("nvs.factors.positions", d.head_rank, width_, false);
    const Linear factors = linear("nvs.factors.tokens", d.head_rank, width_, false);
    factors_ = words_.multiplied(factors.weight, kernels);
  }
  if (looks_twice_) {
    words_.keep_rows();
    for (std::size_t i = 0; i < tokens_; ++i) {
      first_bias_[i] += d.head_slack;
    }
  }
}

void SelectionHead::prepare(const FloatRows& memory, HeadInput& input) const {
  // whatever multiplier the output layer fixes is for the decoder's states, not for these
  const Input form{words_.is_int8()};
  Activations& wide = factored_ ? input.second : input.first;
  const std::size_t length = memory.rows;
  wide.set(*kernels_, memory, form);
  if (tied_) {
    const std::size_t across = padded(hidden_.weight.channels()), stride = padded(width_);
    float* hidden = input.hidden.grow(length * across);
    wide.multiply(*kernels_, hidden_.weight.weights(), hidden,
                  hidden_.finish({Activation::Kind::kRelu}));
    wide.set(*kernels_, {hidden, length, across}, form);
    float* adapted = input.adapted.grow(length * stride);
    wide.multiply(*kernels_, out_.weight.weights(), adapted, out_.finish());
    wide.set(*kernels_, {adapted, length, stride}, form);
  }
  if (factored_) {
    const std::size_t stride = padded(positions_.weight.channels());
    float* narrow = input.narrow.grow(length * stride);
    wide.multiply(*kernels_, positions_.weight.weights(), narrow, {});
    input.first.set(*kernels_, {narrow, length, stride}, form);
  }
}

void SelectionHead::vote(std::size_t first, std::size_t count, const HeadInput& input,
                         float* logits) const {
  input.first.pool(*kernels_, voters().plain_part(first, count), logits);
  const float* bias = first_bias_.data() + first;
  for (std::size_t i = 0; i < std::min(count, tokens_ - first); ++i) {
    logits[i] += bias[i];
  }
}

void SelectionHead::vote_among(std::span<const std::int32_t> tokens, const HeadInput& input,
                               GatheredRows& rows, float* logits) const {
  pool_among(voters(), tokens, input.first, first_bias_, rows, logits);
}

void SelectionHead::look_again(std::span<const std::int32_t> tokens, const HeadInput& input,
                               GatheredRows& rows, float* logits) const {
  pool_among(words_, tokens, input.second, bias_, rows, logits);
}

void SelectionHead::pool_among(const Matrix& from, std::span<const std::int32_t> tokens,
                               const Activations& states, const Buffer<float>& bias,
                               GatheredRows& rows, float* logits) const {
  rows.start(from, true);
  rows.append(from, tokens);
  states.pool(*kernels_, rows.weights(), logits);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    logits[i] += bias[static_cast<std::size_t>(tokens[i])];
  }
}

void SelectionHead::all(const HeadInput& input, bool last_look, Buffer<float>& scratch,
                        float* logits) const {
  vote(0, tokens_, input, logits);
  if (looks_twice_) {
    float* again = scratch.grow(padded(tokens_));
    input.second.pool(*kernels_, words_.plain_part(0, tokens_), again);
    for (std::size_t i = 0; i < tokens_; ++i) {
      const float exact = again[i] + bias_[i];
      logits[i] = last_look ? exact : std::min(logits[i], exact);
    }
  }
}

}  // namespace sieve
