// What a model is: its sizes, the variants of its arithmetic and its special ids. No weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../kernels/kernels.hpp"

namespace sieve {

/// No id: where the decoder starts from a vector of zeros.
inline constexpr std::int32_t kNoId = -1;

struct Architecture {
  enum class Tie { kAll, kOutput, kNone };
  enum class Head { kNone, kTied, kFull };

  std::size_t src_vocab = 0, tgt_vocab = 0;
  std::size_t encoder_layers = 0, decoder_layers = 0;
  std::size_t width = 0, hidden = 0, heads = 0;
  bool recurrent = true;  // SSRU, else self-attention
  Tie tie = Tie::kAll;
  Head head = Head::kNone;
  std::size_t head_hidden = 0;
  std::size_t head_rank = 0;  // of a factored head, else 0
  bool head_looks_twice = false;
  float head_slack = 0.0F;

  bool post_norm = false;  // norm(x + f(x)), no norm at the end; else x + f(norm(x)) and one
  float norm_epsilon = 1e-5F;
  Activation activation{};  // of the feed-forward sublayers
  float embedding_factor = 1.0F;
  std::size_t last_frequency = 0;  // sine i has the frequency 10000^(-i / this)
  std::size_t position_offset = 0;

  std::int32_t start = kNoId, eos = 0;
  std::vector<std::int32_t> never;  // ids that no translation contains
  std::size_t alignment_layer = 0;
  std::vector<std::uint8_t> alignment_heads;  // one flag a head
};

}  // namespace sieve
