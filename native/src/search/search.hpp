// Greedy search, beam search and sampling for one sentence, a step at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../model/decoder.hpp"
#include "beam.hpp"
#include "candidates.hpp"
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
  std::size_t steps() const { return beam_.steps(); }

 private:
  void start(const Sentence& sentence, const SearchOptions& options, const Shortlist& shortlist);
  void finish_logits(const Kernels& kernels, std::size_t rows, std::size_t columns);
  void find_candidates(const Shortlist& shortlist, const float* logits);
  void draw(const Shortlist& shortlist, const float* logits);

  const SearchOptions* options_ = nullptr;
  std::uint32_t key_ = 0;
  bool constrained_ = false;
  Beam beam_;
  Candidates candidates_;
  std::vector<Candidate> drawn_;
  std::vector<float> log_sums_, sorted_;
  Buffer<float> logits_, maxima_;
  Constraints constraints_;
};

}  // namespace sieve
