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
#include "request.hpp"
#include "shortlist.hpp"

namespace sieve {

class Search {
 public:
  /// The best translations, best first.
  std::vector<Hypothesis> run(const Sentence& sentence, const SearchOptions& options,
                              Decoder& decoder, const Shortlist& shortlist, Workspace& work,
                              Interrupt& interrupt);
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

  void start(const Sentence& sentence, const SearchOptions& options, const Shortlist& shortlist);
  void finish_logits(const Kernels& kernels, std::size_t rows, std::size_t columns);
  void find_candidates(const Shortlist& shortlist, const float* logits);
  void draw(const Shortlist& shortlist, const float* logits);
  void consider(const Candidate& candidate);
  void finish();
  void live_on();
  bool ended() const;
  float weight(std::size_t length) const;
  Hypothesis follow(const Finished& end) const;

  const SearchOptions* options_ = nullptr;
  std::size_t step_ = 0, most_ = 0, limit_ = 0;
  std::uint32_t key_ = 0;
  std::int32_t eos_ = 0;
  bool constrained_ = false;
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
