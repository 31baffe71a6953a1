// Whole requests: encode, select and search many sentences, on several threads.
//
// One sentence stays on one thread, and nothing is shared between sentences but the weights:
// results depend neither on the number of threads nor on the other sentences.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "lossless.hpp"
#include "lossless_beam.hpp"
#include "queue.hpp"
#include "request.hpp"
#include "search.hpp"

namespace sieve {

/// What one thread works with; kept from call to call.
struct Scratch {
  Workspace work;
  Decoder decoder;
  Shortlist shortlist;
  Search search;
  LosslessSearch lossless;
  LosslessBeam lossless_beam;
  Buffer<float> memory, logits, maxima;
};

class Engine {
 public:
  Engine(const Architecture& architecture, const Tensors& tensors, bool int8,
         const Kernels& kernels)
      : model_(architecture, tensors, int8, kernels) {}

  const Model& model() const { return model_; }

  std::vector<Result> translate(const Request& request, Interrupt& interrupt) const;
  /// Memories (T, stride), one a sentence.
  std::vector<Buffer<float>> encode(const Request& request, Interrupt& interrupt) const;
  /// Pooled logits of the selection head, or of its last look alone, into rows (tokens) of `out`.
  void pooled_logits(const Request& request, bool last_look, Interrupt& interrupt,
                     float* out) const;
  /// Log-probabilities of each sentence's prefix and EOS after it; −inf for tokens not selected.
  std::vector<Result> score(const Request& request, Interrupt& interrupt) const;

 private:
  /// A thread's tools, given back at the end.
  class Borrowed {
   public:
    explicit Borrowed(const Engine& engine);
    ~Borrowed();
    Scratch& operator*() { return *scratch_; }
    Scratch* operator->() { return scratch_.get(); }

   private:
    const Engine& engine_;
    std::unique_ptr<Scratch> scratch_;
  };

  enum class Way { kSelected, kEverything, kGreedyDrafts, kBeamDrafts };

  Way way(const Request& request, const Sentence& sentence) const;
  Result search(const Sentence& sentence, const Request& request, Scratch& own,
                Interrupt& interrupt) const;
  FloatRows memory(const Sentence& sentence, Scratch& scratch) const;
  FloatRows begin(const Sentence& sentence, const Selection& selection, Scratch& scratch,
                  Timing& timing) const;
  Hypothesis forced(std::span<const std::int32_t> target, Scratch& scratch,
                    Interrupt& interrupt) const;

  Model model_;
  mutable std::mutex lock_;
  mutable std::vector<std::unique_ptr<Scratch>> idle_;
};

}  // namespace sieve
