#include "engine.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
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

}  // namespace

/// How a sentence is searched: a lossless search drafts with the selected tokens where it can.
Engine::Way Engine::way(const Request& request, const Sentence& sentence) const {
  const SearchOptions& search = request.search;
  if (!search.lossless) {
    return Way::kSelected;
  }
  const bool drafts = !search.sampling && search.blocked.empty() && !request.selection.everything;
  if (drafts && search.rows == 1) {
    return Way::kGreedyDrafts;
  }
  const bool free = sentence.prefix.empty();
  return drafts && free && search.draft_beams ? Way::kBeamDrafts : Way::kEverything;
}

Engine::Borrowed::Borrowed(const Engine& engine) : engine_(engine) {
  {
    const std::lock_guard<std::mutex> guard(engine_.lock_);
    if (!engine_.idle_.empty()) {
      scratch_ = std::move(engine_.idle_.back());
      engine_.idle_.pop_back();
      return;
    }
  }
  scratch_ = std::make_unique<Scratch>();
}

Engine::Borrowed::~Borrowed() {
  const std::lock_guard<std::mutex> guard(engine_.lock_);
  engine_.idle_.push_back(std::move(scratch_));
}

FloatRows Engine::memory(const Sentence& sentence, Scratch& scratch) const {
  const std::size_t length = sentence.ids.size(), stride = model_.stride();
  if (sentence.memory != nullptr) {
    return {sentence.memory, length, stride};
  }
  float* states = scratch.memory.grow(length * stride);
  model_.encode(sentence.ids, scratch.work, states);
  return {states, length, stride};
}

/// Encodes a sentence and chooses its tokens.
FloatRows Engine::begin(const Sentence& sentence, const Selection& selection, Scratch& scratch,
                        Timing& timing) const {
  Clock clock;
  const FloatRows states = memory(sentence, scratch);
  timing.encode = clock.lap();
  scratch.shortlist.choose(model_, selection, sentence, states, scratch.work);
  scratch.shortlist.load();
  timing.gather = scratch.shortlist.gathering();
  timing.select = clock.lap() - timing.gather;
  return states;
}

std::vector<Result> Engine::translate(const Request& request, Interrupt& interrupt) const {
  std::vector<Result> results(request.sentences.size());
  Queue queue(request.sentences, interrupt);
  const auto work = [&] {
    Borrowed own(*this);
    for (std::size_t index = 0; queue.next(index);) {
      results[index] = search(request.sentences[index], request, *own, interrupt);
    }
  };
  Helpers helpers(queue, request.threads, work);
  work();
  helpers.wait();
  return results;
}

Result Engine::search(const Sentence& sentence, const Request& request, Scratch& own,
                      Interrupt& interrupt) const {
  Result result;
  const Way how = way(request, sentence);
  const Selection everything{
      .everything = true, .include = {}, .exclude = request.selection.exclude};
  const Selection& selection = how == Way::kEverything ? everything : request.selection;
  Sentence wanted = sentence;
  if (how == Way::kBeamDrafts) {
    wanted.cut -= LosslessBeam::kGenerous;
  }
  const FloatRows states = begin(wanted, selection, own, result.timing);
  Clock clock;
  own.decoder.start(model_, states, request.search.rows, own.work);
  const auto drafted = [&](auto& drafting) {
    result.hypotheses =
        drafting.run(sentence, request, own.decoder, own.shortlist, own.work, interrupt);
    result.timing.steps = drafting.steps();
    result.returns = drafting.returns();
  };
  if (how == Way::kGreedyDrafts) {
    drafted(own.lossless);
  } else if (how == Way::kBeamDrafts) {
    drafted(own.lossless_beam);
  } else {
    result.hypotheses = own.search.run(sentence, request.search, own.decoder, own.shortlist,
                                       own.work, interrupt);
    result.timing.steps = own.search.steps();
  }
  for (Hypothesis& hypothesis : result.hypotheses) {
    hypothesis.margin = own.shortlist.margin(hypothesis.tokens);
  }
  result.shortlist_size = own.shortlist.size();
  result.timing.search = clock.lap();
  return result;
}

std::vector<Buffer<float>> Engine::encode(const Request& request, Interrupt& interrupt) const {
  std::vector<Buffer<float>> memories(request.sentences.size());
  Queue queue(request.sentences, interrupt);
  const auto work = [&] {
    Borrowed own(*this);
    for (std::size_t index = 0; queue.next(index);) {
      const Sentence& sentence = request.sentences[index];
      float* states = memories[index].grow(sentence.ids.size() * model_.stride());
      model_.encode(sentence.ids, own->work, states);
    }
  };
  Helpers helpers(queue, request.threads, work);
  work();
  helpers.wait();
  return memories;
}

void Engine::pooled_logits(const Request& request, bool last_look, Interrupt& interrupt,
                           float* out) const {
  const std::size_t V = model_.architecture().tgt_vocab;
  Queue queue(request.sentences, interrupt);
  const auto work = [&] {
    Borrowed own(*this);
    for (std::size_t index = 0; queue.next(index);) {
      Workspace& tools = own->work;
      float* best = tools.best.grow(padded(V));
      model_.head().prepare(memory(request.sentences[index], *own), tools.head);
      model_.head().all(tools.head, last_look, own->logits, best);
      std::copy(best, best + V, out + index * V);
    }
  };
  Helpers helpers(queue, request.threads, work);
  work();
  helpers.wait();
}

std::vector<Result> Engine::score(const Request& request, Interrupt& interrupt) const {
  std::vector<Result> results(request.sentences.size());
  Queue queue(request.sentences, interrupt);
  const auto work = [&] {
    Borrowed own(*this);
    for (std::size_t index = 0; queue.next(index);) {
      Sentence sentence = request.sentences[index];
      const std::span<const std::int32_t> target = std::exchange(sentence.prefix, {});
      Result& result = results[index];
      const FloatRows states = begin(sentence, request.selection, *own, result.timing);
      result.shortlist_size = own->shortlist.size();
      own->decoder.start(model_, states, 1, own->work);
      result.hypotheses.push_back(forced(target, *own, interrupt));
    }
  };
  Helpers helpers(queue, request.threads, work);
  work();
  helpers.wait();
  return results;
}

/// Scores of given tokens, and of EOS after them.
Hypothesis Engine::forced(std::span<const std::int32_t> target, Scratch& scratch,
                          Interrupt& interrupt) const {
  const std::size_t columns = scratch.shortlist.columns();
  float* logits = scratch.logits.grow(columns);
  float* maxima = scratch.maxima.grow(columns / kGroup);
  Hypothesis hypothesis;
  std::int32_t id = model_.architecture().start;
  const std::int32_t parent = 0;
  for (std::size_t step = 0; step <= target.size(); ++step) {
    if (interrupt.stopped()) {
      throw Stopped{};
    }
    const float* state = scratch.decoder.step({&id, 1}, {&parent, 1}, scratch.work);
    scratch.shortlist.logits({state, 1, model_.stride()}, scratch.work, logits);
    const float total = log_sum(model_.kernels(), logits, columns, maxima);
    id = step < target.size() ? target[step] : model_.architecture().eos;
    const std::int64_t column = scratch.shortlist.column(id);
    hypothesis.scores.push_back(column < 0 ? -std::numeric_limits<float>::infinity()
                                           : logits[static_cast<std::size_t>(column)] - total);
  }
  hypothesis.tokens.assign(target.begin(), target.end());
  return hypothesis;
}

}  // namespace sieve
