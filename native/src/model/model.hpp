// A translation model's weights, and the arithmetic on one sentence that needs no search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../layers/weights.hpp"
#include "architecture.hpp"
#include "head.hpp"

namespace sieve {

struct Norm {
  Buffer<float> weight, bias;
};

struct FeedForward {
  Norm norm;
  Linear hidden, out;
};

struct EncoderLayer {
  Norm norm;
  Linear qkv, out;
  FeedForward feed_forward;
};

struct DecoderLayer {
  Norm norm;
  Linear forget, value;   // of a recurrent mixer
  Linear qkv, mixed_out;  // of self-attention
  Norm cross_norm;
  Linear query, key_value, out;
  FeedForward feed_forward;
};

/// What one thread needs beside the weights; used again from sentence to sentence.
struct Workspace {
  Activations activations;
  Buffer<float> x, normed, wide, hidden, context, scores, keys, best;
  HeadInput head;
};

class Model {
 public:
  /// Takes views of int8 tensors, which must outlive the model; throws ModelError.
  Model(const Architecture& architecture, const Tensors& tensors, bool int8,
        const Kernels& kernels);

  const Architecture& architecture() const { return architecture_; }
  const Kernels& kernels() const { return kernels_; }
  std::size_t stride() const { return padded(architecture_.width); }
  const std::vector<DecoderLayer>& decoder() const { return decoder_; }
  const Matrix& output() const { return output_.channels() != 0 ? output_ : tgt_embedding_; }
  /// (padded tokens), −inf behind the last token.
  const float* output_bias() const { return output_bias_.data(); }

  /// Memory (T, stride) of T source ids.
  void encode(std::span<const std::int32_t> ids, Workspace& work, float* memory) const;
  /// Throws ModelError where there is none.
  const SelectionHead& head() const;
  /// Row of a target token at a position, as the decoder reads it; of no token: zeros and position.
  void embed_target(std::int32_t id, std::size_t position, float* row) const;
  /// x += out(activation(hidden(x))) for `rows` rows, with its norm before or after.
  void feed_forward(const FeedForward& layer, std::size_t rows, float* x, Workspace& work) const;
  /// Before a sublayer that begins with `first`: activations = x, normed where norms come first.
  void enter(const Norm& norm, const Linear& first, std::size_t rows, const float* x,
             Workspace& work) const;
  /// After a sublayer was added to x: norms x in place where norms come last.
  void leave(const Norm& norm, std::size_t rows, float* x) const;
  /// After the last layer of the decoder: x, or its norm in the workspace.
  const float* decoded(std::size_t rows, const float* x, Workspace& work) const;

 private:
  void add_position(std::size_t position, float* row) const;
  void make_positions();
  NormWeights weights(const Norm& norm) const {
    return {norm.weight.data(), norm.bias.data(), architecture_.width, architecture_.norm_epsilon};
  }

  Architecture architecture_;
  const Kernels& kernels_;
  Matrix src_embedding_, tgt_embedding_, output_;
  Buffer<float> output_bias_;
  std::vector<EncoderLayer> encoder_;
  std::vector<DecoderLayer> decoder_;
  Norm encoder_norm_, decoder_norm_;
  SelectionHead head_;
  Buffer<float> frequencies_, positions_;
};

/// Keys (heads · width, padded length) from rows (length, stride) that begin with them.
void transpose_keys(const float* rows, std::size_t stride, std::size_t length, std::size_t width,
                    Buffer<float>& keys);

}  // namespace sieve
