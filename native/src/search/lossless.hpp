// Greedy search over selected tokens that finds what greedy search over all tokens finds.
//
// Some steps are made with the selected tokens alone, then their states are checked against all
// tokens in one product. At the first step where another token is better, that token joins the
// selected ones and the search continues from there. Steps between two checks: doubled when all
// were right, one when not, so that little is lost where a selection keeps failing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../model/decoder.hpp"
#include "all_tokens.hpp"
#include "request.hpp"
#include "shortlist.hpp"

namespace sieve {

class LosslessSearch {
 public:
  /// What greedy search over all tokens but the excluded ones finds; nothing where no score is
  /// finite.
  std::vector<Hypothesis> run(const Sentence& sentence, const Request& request, Decoder& decoder,
                              Shortlist& shortlist, Workspace& work, Interrupt& interrupt);
  /// Steps that the last run made, those it took back included.
  std::size_t steps() const { return steps_; }
  /// How often the last run went back.
  std::size_t returns() const { return returns_; }

 private:
  /// What all tokens say of one step.
  struct Verdict {
    std::int32_t best = 0;
    float top = 0.0F, chosen = 0.0F;  // logits of the best token and of the one that was chosen
    float log_sum = 0.0F;
  };

  void draft(Decoder& decoder, const Shortlist& shortlist, Workspace& work);
  void check(std::size_t first, Workspace& work);
  bool accept(std::size_t step, Shortlist& shortlist);
  Hypothesis result(bool alignment) const;

  std::size_t steps_ = 0, returns_ = 0;
  const Model* model_ = nullptr;
  std::int32_t eos_ = 0;
  std::span<const std::int32_t> prefix_;
  std::vector<std::int32_t> tokens_, focus_;
  std::vector<float> scores_;
  std::vector<Verdict> verdicts_;
  AllTokens all_;
  Buffer<float> states_, logits_, maxima_;
};

}  // namespace sieve
