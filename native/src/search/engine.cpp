#include "engine.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <limits>
#include <numeric>
#include <system_error>
#include <thread>
#include <utility>

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

/// Further threads that do the same as the calling one.
class Helpers {
 public:
  Helpers(std::size_t wanted, std::function<void()> work, std::mutex& lock)
      : work_(std::move(work)), lock_(lock) {
    threads_.reserve(wanted);
    while (threads_.size() + 1 < wanted) {
      try {
        threads_.emplace_back([this] {
          work_();
          const std::lock_guard<std::mutex> guard(lock_);
          ++done_;
          ended_.notify_all();
        });
      } catch (const std::system_error&) {
        break;  // the system gives no more threads: those there are do
      }
    }
  }

  ~Helpers() {
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }

  /// Returns when all are done; meanwhile the calling thread looks out for Ctrl-C.
  void wait(Interrupt& interrupt) {
    bool stopped = false;
    std::unique_lock<std::mutex> guard(lock_);
    while (done_ < threads_.size()) {
      ended_.wait_for(guard, std::chrono::milliseconds(50));
      guard.unlock();
      stopped = interrupt.stopped();
      guard.lock();
    }
    if (stopped) {
      throw Stopped{};
    }
  }

 private:
  std::function<void()> work_;
  std::mutex& lock_;
  std::condition_variable ended_;
  std::size_t done_ = 0;
  std::vector<std::thread> threads_;
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
  const std::size_t wanted = std::min(threads, sentences.size());
  Helpers helpers(wanted, worker, lock_);
  worker();
  helpers.wait(interrupt);
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
  // Scores of several hypotheses compare only when all words count: as much work as a full search.
  const bool drafts = options.lossless && options.rows == 1 && !options.sampling &&
                      options.blocked.empty() && !selection.everything;
  const Selection everything{.everything = true, .include = {}, .exclude = selection.exclude};
  const Selection& chosen = options.lossless && !drafts ? everything : selection;
  run(sentences, threads, interrupt, [&](std::size_t index, Scratch& scratch) {
    const Sentence& sentence = sentences[index];
    const std::size_t T = sentence.ids.size();
    Result& result = results[index];
    Clock clock;
    const float* states = memory(sentence, scratch);
    result.timing.encode = clock.lap();
    scratch.words.choose(model_, kernels_, chosen, sentence.words, sentence.prefix, states, T,
                         scratch.work);
    scratch.words.load();
    result.timing.gather = scratch.words.gathering();
    result.timing.select = clock.lap() - result.timing.gather;
    scratch.decoder.start(model_, kernels_, states, T, options.rows, scratch.work);
    if (drafts) {
      result.hypotheses = scratch.lossless.run(
          scratch.decoder, scratch.words, model_, kernels_, selection.exclude, options.alignment,
          sentence.limit, sentence.prefix, scratch.work, interrupt);
      result.timing.steps = scratch.lossless.steps();
      result.returns = scratch.lossless.returns();
    } else {
      result.hypotheses =
          scratch.search.run(scratch.decoder, scratch.words, kernels_, options, sentence.limit,
                             sentence.prefix, sentence.key, scratch.work, interrupt);
      result.timing.steps = scratch.search.steps();
    }
    for (Hypothesis& one : result.hypotheses) {
      one.margin = scratch.words.margin(one.tokens);
    }
    result.words = scratch.words.size();
    result.timing.search = clock.lap();
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
    model_.prepare_vote(kernels_, states, sentence.ids.size(), scratch.work);
    model_.vote(kernels_, 0, V, scratch.work, best);
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
    words.load();
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
      const float total = log_sum(kernels_, logits.data(), S, maxima.data());
      id = step < sentence.prefix.size() ? sentence.prefix[step] : kEos;
      const std::int64_t column = words.column(id);
      forced.scores.push_back(column < 0 ? -std::numeric_limits<float>::infinity()
                                         : logits[static_cast<std::size_t>(column)] - total);
    }
    forced.tokens.assign(sentence.prefix.begin(), sentence.prefix.end());
    results[index].hypotheses.push_back(std::move(forced));
  });
  return results;
}

}  // namespace sieve
