// Whole requests: encode, select and search many sentences, on several threads.
//
// One sentence stays on one thread, and nothing is shared between sentences but the weights: results
// depend neither on the number of threads nor on the other sentences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "lossless.hpp"
#include "search.hpp"

namespace sieve {

struct Sentence {
  std::span<const std::int32_t> ids;     // of the source, EOS at the end
  std::span<const std::int32_t> words;   // that this sentence may use
  std::span<const std::int32_t> prefix;  // that its translation begins with
  std::size_t limit = 1;                 // most tokens, EOS included
  std::uint32_t key = 0;                 // of its random numbers
  const float* memory = nullptr;         // where it was encoded before
};

/// Where a sentence's time went, in seconds.
struct Timing {
  double encode = 0.0, select = 0.0, gather = 0.0, search = 0.0;
  std::size_t steps = 0;
};

struct Result {
  std::vector<Hypothesis> hypotheses;
  std::size_t words = 0;    // at the end, those added on the way included
  std::size_t returns = 0;  // how often a lossless search went back
  Timing timing;
};

/// What one thread works with; kept from call to call.
struct Scratch {
  Workspace work;
  Decoder decoder;
  OutputWords words;
  Search search;
  LosslessSearch lossless;
  Buffer<float> memory;
};

class Engine {
 public:
  Engine(const Dimensions& dimensions, const Tensors& tensors, bool int8, const Kernels& kernels)
      : model_(dimensions, tensors, int8), kernels_(kernels) {}

  const Model& model() const { return model_; }
  const Kernels& kernels() const { return kernels_; }

  std::vector<Result> translate(std::span<const Sentence> sentences, const Selection& selection,
                                const SearchOptions& options, std::size_t threads,
                                Interrupt& interrupt) const;
  /// Memories (T, stride), one a sentence.
  std::vector<Buffer<float>> encode(std::span<const Sentence> sentences, std::size_t threads,
                                    Interrupt& interrupt) const;
  /// Pooled logits of the selection head into rows (words) of `out`.
  void pooled_logits(std::span<const Sentence> sentences, std::size_t threads,
                     Interrupt& interrupt, float* out) const;
  /// Log-probabilities of each sentence's prefix and EOS after it; −inf for words not selected.
  std::vector<Result> score(std::span<const Sentence> sentences, const Selection& selection,
                            std::size_t threads, Interrupt& interrupt) const;

 private:
  using Work = std::function<void(std::size_t, Scratch&)>;

  void run(std::span<const Sentence> sentences, std::size_t threads, Interrupt& interrupt,
           const Work& work) const;
  const float* memory(const Sentence& sentence, Scratch& scratch) const;

  Model model_;
  const Kernels& kernels_;
  mutable std::mutex lock_;
  mutable std::vector<std::unique_ptr<Scratch>> idle_;
};

}  // namespace sieve
