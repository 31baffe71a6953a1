// Greedy search, beam search and sampling for one sentence.
//
// At each step the 2K best continuations of the K hypotheses are found; those of the best K that
// end (by EOS or at the limit) are finished, the best K that do not end live on. Equal values: the
// lower hypothesis, then the lower id wins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../model/decoder.hpp"
#include "constraints.hpp"
#include "words.hpp"

namespace sieve {

struct SearchOptions {
  std::size_t rows = 5;  // hypotheses at a time
  std::size_t n_best = 1;
  double length_penalty = 1.0;
  bool stop_first = false;  // once `rows` hypotheses have ended
  bool sampling = false;
  float temperature = 1.0F;
  std::size_t top_k = 0;
  bool alignment = false;
  bool lossless = false;  // find what a search over all words finds
  std::vector<Blocked> blocked;
  std::vector<std::uint8_t> opens;  // one flag a word: a word goes on after it
};

struct Hypothesis {
  std::vector<std::int32_t> tokens;  // without EOS
  std::vector<float> scores;         // of each token, and of EOS unless cut
  std::vector<std::int32_t> positions;
  float margin = 0.0F;  // see OutputWords::margin
};

/// Whether to go on: asked once a step.
class Interrupt {
 public:
  virtual ~Interrupt() = default;
  virtual bool stopped() = 0;
};

/// Thrown out of a search that was stopped.
struct Stopped {};

class Search {
 public:
  /// The best translations, best first.
  std::vector<Hypothesis> run(Decoder& decoder, const OutputWords& words, const Kernels& kernels,
                              const SearchOptions& options, std::size_t limit,
                              std::span<const std::int32_t> prefix, std::uint32_t key,
                              Workspace& work, Interrupt& interrupt);
  /// Steps that the last run made.
  std::size_t steps() const { return step_; }

 private:
  struct Candidate {
    float value, log_prob;
    std::int32_t parent, id;
  };
  struct Finished {
    float value;
    std::size_t step, rank;
  };

  void find_candidates(const OutputWords& words, const float* logits);
  void draw(const OutputWords& words, const float* logits);
  void consider(const Candidate& candidate);
  void finish(std::size_t limit);
  void live_on(const SearchOptions& options);
  bool ended(const SearchOptions& options, std::size_t limit) const;
  float weight(std::size_t length) const;
  Hypothesis follow(const Finished& end) const;

  const SearchOptions* options_ = nullptr;
  std::size_t step_ = 0, most_ = 0;
  std::uint32_t key_ = 0;
  std::vector<float> scores_;               // of the living
  std::vector<std::int32_t> ids_, parents_;  // their newest tokens, and rows they continue
  std::vector<Candidate> candidates_;
  std::vector<Candidate> history_;          // (steps, most_)
  std::vector<std::int32_t> alive_;         // (steps, rows): candidates that lived on
  std::vector<std::int32_t> focus_;         // (steps, rows)
  std::vector<Finished> finished_;          // best first
  std::vector<float> log_sums_, sorted_;
  Buffer<float> logits_, maxima_;
  Constraints constraints_;
};

}  // namespace sieve
