#include "engine.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <numeric>
#include <thread>

namespace sieve {
namespace {

class Clock {
 public:
  /// Seconds since the last call, or since the beginning.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return seconds;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace

/// Threads take sentences from a queue, the longest first.
void Engine::run(std::span<const Sentence> sentences, std::size_t threads, Interrupt& interrupt,
                 const Work& work) const {
  std::vector<std::size_t> order(sentences.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return sentences[a].ids.size() > sentences[b].ids.size();
  });
  std::atomic<std::size_t> next{0};
  std::exception_ptr error;
  const auto worker = [&] {
    std::unique_ptr<Scratch> scratch;
    {
      const std::lock_guard<std::mutex> guard(lock_);
      if (!idle_.empty()) {
        scratch = std::move(idle_.back());
        idle_.pop_back();
      }
    }
    try {
      if (scratch == nullptr) {
        scratch = std::make_unique<Scratch>();
      }
      for (std::size_t i = next++; i < order.size(); i = next++) {
        if (interrupt.stopped()) {
          throw Stopped{};
        }
        work(order[i], *scratch);
      }
    } catch (...) {
      next = order.size();
      const std::lock_guard<std::mutex> guard(lock_);
      if (error == nullptr) {
        error = std::current_exception();
      }
    }
    const std::lock_guard<std::mutex> guard(lock_);
    if (scratch != nullptr) {
      idle_.push_back(std::move(scratch));
    }
  };
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < std::min(threads, sentences.size()); ++i) {
    others.emplace_back(worker);
  }
  worker();
  for (std::thread& other : others) {
    other.join();
  }
  if (error != nullptr) {
    std::rethrow_exception(error);
  }
}

const float* Engine::memory(const Sentence& sentence, Scratch& scratch) const {
  if (sentence.memory != nullptr) {
    return sentence.memory;
  }
  float* memory = scratch.memory.grow(sentence.ids.size() * model_.stride());
  model_.encode(kernels_, sentence.ids, scratch.work, memory);
  return memory;
}

std::vector<Result> Engine::translate(std::span<const Sentence> sentences,
                                      const Selection& selection, const SearchOptions& options,
                                      std::size_t threads, Interrupt& interrupt) const {
  std::vector<Result> results(sentences.size());
  run(sentences, threads, interrupt, [&](std::size_t index, Scratch& scratch) {
    const Sentence& sentence = sentences[index];
    const std::size_t T = sentence.ids.size();
    Result& result = results[index];
    Clock clock;
    const float* states = memory(sentence, scratch);
    result.timing.encode = clock.lap();
    scratch.words.choose(model_, kernels_, selection, sentence.words, sentence.prefix, states, T,
                         scratch.work);
    result.words = scratch.words.size();
    result.timing.select = clock.lap();
    scratch.words.load(model_);
    result.timing.gather = clock.lap();
    scratch.decoder.start(model_, kernels_, states, T, options.rows, scratch.work);
    result.hypotheses =
        scratch.search.run(scratch.decoder, scratch.words, kernels_, options, sentence.limit,
                           sentence.prefix, sentence.key, scratch.work, interrupt);
    result.timing.search = clock.lap();
    result.timing.steps = scratch.search.steps();
  });
  return results;
}

std::vector<Buffer<float>> Engine::encode(std::span<const Sentence> sentences,
                                          std::size_t threads, Interrupt& interrupt) const {
  std::vector<Buffer<float>> memories(sentences.size());
  run(sentences, threads, interrupt, [&](std::size_t index, Scratch& scratch) {
    float* memory = memories[index].grow(sentences[index].ids.size() * model_.stride());
    model_.encode(kernels_, sentences[index].ids, scratch.work, memory);
  });
  return memories;
}

void Engine::pooled_logits(std::span<const Sentence> sentences, std::size_t threads,
                           Interrupt& interrupt, float* out) const {
  const std::size_t V = model_.dimensions().tgt_words;
  run(sentences, threads, interrupt, [&](std::size_t index, Scratch& scratch) {
    const Sentence& sentence = sentences[index];
    float* best = scratch.work.best.grow(padded(V));
    const float* states = memory(sentence, scratch);
    model_.pooled_logits(kernels_, states, sentence.ids.size(), scratch.work, best);
    std::copy(best, best + V, out + index * V);
  });
}

std::vector<Result> Engine::score(std::span<const Sentence> sentences, const Selection& selection,
                                  std::size_t threads, Interrupt& interrupt) const {
  std::vector<Result> results(sentences.size());
  run(sentences, threads, interrupt, [&](std::size_t index, Scratch& scratch) {
    const Sentence& sentence = sentences[index];
    const std::size_t T = sentence.ids.size();
    const float* states = memory(sentence, scratch);
    OutputWords& words = scratch.words;
    words.choose(model_, kernels_, selection, sentence.words, {}, states, T, scratch.work);
    words.load(model_);
    results[index].words = words.size();
    scratch.decoder.start(model_, kernels_, states, T, 1, scratch.work);
    const std::size_t S = words.columns();
    Buffer<float> logits(S), maxima(S / kGroup);
    Hypothesis forced;
    std::int32_t id = kBos;
    const std::int32_t parent = 0;
    for (std::size_t step = 0; step <= sentence.prefix.size(); ++step) {
      if (interrupt.stopped()) {
        throw Stopped{};
      }
      const float* state = scratch.decoder.step({&id, 1}, {&parent, 1}, scratch.work);
      words.logits(kernels_, {state, 1, model_.stride()}, scratch.work, logits.data());
      const float top = kernels_.chunk_maxima(logits.data(), S, maxima.data());
      const float log_sum = top + std::log(kernels_.sum_exp(logits.data(), S, top));
      id = step < sentence.prefix.size() ? sentence.prefix[step] : kEos;
      const std::int64_t column = words.column(id);
      forced.scores.push_back(column < 0 ? -std::numeric_limits<float>::infinity()
                                         : logits[static_cast<std::size_t>(column)] - log_sum);
    }
    forced.tokens.assign(sentence.prefix.begin(), sentence.prefix.end());
    results[index].hypotheses.push_back(std::move(forced));
  });
  return results;
}

}  // namespace sieve
