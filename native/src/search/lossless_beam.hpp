// Beam search over selected tokens that finds what beam search over all tokens finds.
//
// Some steps are drafted with the selected tokens alone; then the states of all their rows are
// checked against all tokens in one product, and the search over all tokens goes through them as
// far as its hypotheses are those of the draft, in whatever order. The last step of a draft needs
// no selected tokens. Steps of a draft: twice as many when all were right, else as many as were;
// one, which is a plain search over all tokens, once too many were taken back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../model/decoder.hpp"
#include "all_tokens.hpp"
#include "beam.hpp"
#include "constraints.hpp"
#include "request.hpp"
#include "shortlist.hpp"

namespace sieve {

class LosslessBeam {
 public:
  /// Log-odds that a head's threshold is lower by for a draft: a few more tokens cost little beside
  /// a step that is taken back.
  static constexpr float kGenerous = 2.0F;

  /// What beam search over all tokens but the excluded ones finds; the sentence has no prefix.
  std::vector<Hypothesis> run(const Sentence& sentence, const Request& request, Decoder& decoder,
                              Shortlist& shortlist, Workspace& work, Interrupt& interrupt);
  /// Steps that the last run made, those it took back included.
  std::size_t steps() const { return steps_; }
  /// How often the last run went back.
  std::size_t returns() const { return returns_; }

 private:
  /// A step that was drafted: its rows, as the decoder has them.
  struct Step {
    std::size_t first;  // of its rows among those of the draft
    std::vector<std::int32_t> ids, parents, focus;
  };

  void draft(std::size_t most, Decoder& decoder, const Shortlist& shortlist, Workspace& work,
             Interrupt& interrupt);
  void extend(const float* states, const Shortlist& shortlist, Workspace& work);
  void check(Workspace& work);
  std::size_t accept();
  void advance(const Step& step);
  bool find_places(const Step& next);

  std::size_t steps_ = 0, returns_ = 0;
  const Model* model_ = nullptr;
  Beam beam_, draft_;                  // what is sure, and what is drafted from there
  std::vector<std::int32_t> places_, parents_, focus_;  // the decoder's row of each hypothesis
  std::vector<Step> drafted_;
  std::size_t rows_ = 0;               // of all drafted steps
  AllTokens all_;
  Candidates candidates_;
  std::vector<Candidates> best_;       // of each row, over all tokens
  Constraints constraints_;
  Buffer<float> states_, logits_, maxima_;
};

}  // namespace sieve
