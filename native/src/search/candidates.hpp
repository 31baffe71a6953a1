// The best continuations of some hypotheses, kept while logits go by. Knows no search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sieve {

/// A hypothesis (parent, its row) with one more token.
struct Candidate {
  float value, log_prob;
  std::int32_t parent, id;
};

/// What is added to the logits of one row: value = (logit − log_sum) + score.
struct RowOfLogits {
  const float* logits;
  const float* maxima;  // of chunks of 64 logits
  std::size_t columns;
  float log_sum = 0.0F, score = 0.0F;
  std::int32_t parent = 0, first = 0;  // the row, and the id of its first column
};

/// The best ones so far, best first; of equals the first to come stays ahead.
class Candidates {
 public:
  void start(std::size_t most) {
    most_ = most;
    list_.clear();
    list_.reserve(most);
  }
  void scan(const RowOfLogits& row);
  void consider(const Candidate& candidate);
  /// Whether so high a value is among the best.
  bool takes(float value) const;

  std::span<Candidate> list() { return list_; }
  std::span<const Candidate> list() const { return list_; }

 private:
  void scan_few(const RowOfLogits& row, std::size_t column);

  std::size_t most_ = 0;
  std::vector<Candidate> list_;
};

}  // namespace sieve
