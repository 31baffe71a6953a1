// The hypotheses of one sentence: who lives, who has ended, and how to read them back.
//
// Of the best K continuations those that end (by EOS or at the limit) are finished, the best K that
// do not end live on. Equal values: the lower hypothesis, then the lower id wins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../model/architecture.hpp"
#include "candidates.hpp"
#include "request.hpp"

namespace sieve {

class Beam {
 public:
  void start(const Sentence& sentence, const SearchOptions& options, const Architecture& model);
  /// One step. `focus`: the source position of each living row, where alignment is wanted.
  void advance(std::span<const Candidate> candidates, const std::int32_t* focus);

  /// Whether nothing better can follow.
  bool over() const { return over_; }
  /// Steps so far.
  std::size_t steps() const { return step_; }
  /// Continuations that a step needs.
  std::size_t most() const { return most_; }
  /// Of the living: scores, newest tokens, and rows of the step before that they continue.
  std::span<const float> scores() const { return scores_; }
  std::span<const std::int32_t> ids() const { return ids_; }
  std::span<const std::int32_t> parents() const { return parents_; }
  /// The best translations, best first.
  std::vector<Hypothesis> best() const;

 private:
  struct Finished {
    float value;
    std::size_t step, rank;
  };

  void finish(std::span<const Candidate> candidates);
  void live_on(std::span<const Candidate> candidates);
  bool ended() const;
  float weight(std::size_t length) const;
  Hypothesis follow(const Finished& end) const;

  const SearchOptions* options_ = nullptr;
  std::size_t step_ = 0, most_ = 0, limit_ = 0;
  std::int32_t eos_ = 0;
  bool over_ = false;
  std::vector<float> scores_;
  std::vector<std::int32_t> ids_, parents_;
  std::vector<Candidate> history_;   // (steps, most_)
  std::vector<std::int32_t> alive_;  // (steps, rows): candidates that lived on
  std::vector<std::int32_t> focus_;  // (steps, rows)
  std::vector<Finished> finished_;   // best first
};

}  // namespace sieve
