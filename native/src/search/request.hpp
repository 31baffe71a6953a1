// What is asked of the engine, and what it answers. Plain values: no weights, no arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sieve {

struct Sentence {
  std::span<const std::int32_t> ids;     // of the source, EOS at the end
  std::span<const std::int32_t> tokens;   // that this sentence may use
  std::span<const std::int32_t> prefix;  // that its translation begins with
  std::span<const std::int32_t> favoured = {};  // whose logits of the selection head get a bonus
  std::span<const float> bonuses = {};          // of each of these; their ids ascend
  std::span<const std::int32_t> candidates = {};  // that the selection head decides among
  float cut = 0.0F;                      // log-odds above which the selection head chooses a token
  std::size_t limit = 1;                 // most tokens, EOS included
  std::uint32_t key = 0;                 // of its random numbers
  const float* memory = nullptr;         // where it was encoded before
};

/// How a request wants tokens to be chosen.
struct Selection {
  bool everything = false;
  bool neural = false;
  bool among = false;                     // the head decides among candidates only
  std::size_t least = 0;                  // tokens the head chooses, whatever the threshold
  std::span<const std::int32_t> include;  // for every sentence
  std::span<const std::int32_t> exclude;
};

/// A sequence that no translation may contain.
struct Blocked {
  std::vector<std::int32_t> tokens;
  bool at_word_start = false;  // only where the token before it does not open a word
};

struct SearchOptions {
  std::size_t rows = 5;  // hypotheses at a time
  std::size_t n_best = 1;
  double length_penalty = 1.0;
  bool stop_first = false;  // once `rows` hypotheses have ended
  bool sampling = false;
  float temperature = 1.0F;
  std::size_t top_k = 0;
  bool alignment = false;
  bool lossless = false;  // find what a search over all tokens finds
  bool draft_beams = false;  // and, with several rows, draft with the selected ones
  std::vector<Blocked> blocked;
  std::vector<std::uint8_t> opens;  // one flag a token: a word goes on after it
};

/// One call: every sentence with the same selection and search.
struct Request {
  std::vector<Sentence> sentences;
  Selection selection;
  SearchOptions search;
  std::size_t threads = 1;
};

struct Hypothesis {
  std::vector<std::int32_t> tokens;  // without EOS
  std::vector<float> scores;         // of each token, and of EOS unless cut
  std::vector<std::int32_t> positions;
  float margin = 0.0F;  // see Shortlist::margin
};

/// Where a sentence's time went, in seconds.
struct Timing {
  double encode = 0.0, select = 0.0, gather = 0.0, search = 0.0;
  std::size_t steps = 0;
};

struct Result {
  std::vector<Hypothesis> hypotheses;
  std::size_t shortlist_size = 0;    // at the end, those added on the way included
  std::size_t returns = 0;  // how often a lossless search went back
  Timing timing;
};

/// Whether to go on: asked once a step.
class Interrupt {
 public:
  virtual ~Interrupt() = default;
  virtual bool stopped() = 0;
};

/// Thrown out of a search that was stopped.
struct Stopped {};

}  // namespace sieve
