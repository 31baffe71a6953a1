// The output tokens of one sentence: which they are, and their logits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../model/model.hpp"
#include "columns.hpp"
#include "request.hpp"

namespace sieve {

class Shortlist {
 public:
  /// Chooses the tokens of a sentence: what the selection says and its own, less what is excluded,
  /// and always EOS and the sentence's prefix.
  void choose(const Model& model, const Selection& selection, const Sentence& sentence,
              const FloatRows& memory, Workspace& work);
  /// Makes the rows of the output layer ready for `logits`.
  void load();
  /// One more token, behind the others.
  void add(std::int32_t id);
  /// By how much the vote (logit and bonus) for the least certain of these tokens, or EOS, is above
  /// the threshold; a token that is there for another reason may be below. NaN where no head chose.
  float margin(std::span<const std::int32_t> tokens) const;
  const Architecture& architecture() const { return model_->architecture(); }
  const Kernels& kernels() const { return model_->kernels(); }
  /// Seconds that gathering rows took.
  double gathering() const { return gathering_; }

  /// Number of tokens.
  std::size_t size() const { return ids_.size(); }
  /// Columns of the logits, a multiple of 64; −inf where there is no token.
  std::size_t columns() const { return columns_; }
  std::int32_t id(std::size_t column) const {
    return gathered_ ? ids_[column] : static_cast<std::int32_t>(column);
  }
  /// Column of a token, or −1.
  std::int64_t column(std::int32_t id) const {
    if (gathered_) {
      return ids_.find(id);
    }
    return choices_[static_cast<std::size_t>(id)] == kIn ? id : -1;
  }
  /// logits (rows, columns) of decoder states (rows, stride).
  void logits(const FloatRows& states, Workspace& work, float* out) const;

 private:
  /// Open: for the selection head to say; left: it said no.
  enum Choice : std::uint8_t { kOpen, kIn, kOut, kLeft };

  void mark(const Selection& selection, const Sentence& sentence);
  void vote(const Selection& selection, const Sentence& sentence, Workspace& work, float* logits);
  void vote_among(const Sentence& sentence, const HeadInput& input, float* logits);
  void look_again(const Sentence& sentence, const HeadInput& input, float* logits);
  float rank(std::size_t least, const float* logits);
  void settle(std::size_t least, const Sentence& sentence, const HeadInput& input, float* logits);
  void fill_up(float cut, const float* logits);
  void gather();

  const Model* model_ = nullptr;
  Columns ids_;
  std::vector<Choice> choices_;    // one a token
  std::size_t columns_ = 0, rows_gathered_ = 0;
  double gathering_ = 0.0;
  bool gathered_ = false, all_ = false;
  GatheredRows rows_, voters_;
  Buffer<float> bias_;
  std::vector<float> ranked_;
  Buffer<float> gathered_votes_;
  std::vector<std::int32_t> doubtful_;   // tokens to look at again
  std::vector<std::uint8_t> looked_at_;  // a flag a token: its vote is no bound
  const float* votes_ = nullptr;  // logits and bonuses, while the workspace is not used for others
  float cut_ = 0.0F;
};

/// log Σ exp of a row of logits; `maxima` gets those of its chunks of 64.
float log_sum(const Kernels& kernels, const float* logits, std::size_t columns, float* maxima);

}  // namespace sieve
