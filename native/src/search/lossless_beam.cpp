#include "lossless_beam.hpp"

#include <algorithm>
#include <utility>

namespace sieve {
namespace {

constexpr std::size_t kFirst = 3, kMost = 6;  // steps between two checks
constexpr std::size_t kWaste = 2;  // steps taken back, and one in 16, before every step is checked

}  // namespace

std::vector<Hypothesis> LosslessBeam::run(const Sentence& sentence, const Request& request,
                                          Decoder& decoder, Shortlist& shortlist, Workspace& work,
                                          Interrupt& interrupt) {
  steps_ = returns_ = 0;
  model_ = &decoder.model();
  beam_.start(sentence, request.search, model_->architecture());
  all_.start(*model_, request.selection.exclude, {});
  places_.assign(1, 0);
  decoder.remember();
  constraints_.start(request.search, {}, shortlist);
  for (std::size_t interval = kFirst; !beam_.over();) {
    draft(interval, decoder, shortlist, work, interrupt);
    check(work);
    const std::size_t right = accept();
    if (beam_.over()) {
      break;
    }
    if (right < drafted_.size()) {
      decoder.rewind(beam_.steps());
      ++returns_;
      interval = right;
    } else {
      interval = std::min(2 * interval, kMost);
    }
    if (steps_ - beam_.steps() > kWaste + beam_.steps() / 16) {
      interval = 1;
    }
    for (const std::int32_t id : beam_.ids()) {
      shortlist.add(id);
    }
  }
  return beam_.best();
}

/// Makes at most so many steps from what is sure.
void LosslessBeam::draft(std::size_t most, Decoder& decoder, const Shortlist& shortlist,
                         Workspace& work, Interrupt& interrupt) {
  const std::size_t S = model_->stride();
  draft_ = beam_;
  drafted_.clear();
  rows_ = 0;
  parents_.clear();
  for (const std::int32_t parent : beam_.parents()) {
    parents_.push_back(places_[static_cast<std::size_t>(parent)]);
  }
  while (drafted_.size() < most && !draft_.over()) {
    if (interrupt.stopped()) {
      throw Stopped{};
    }
    const auto ids = draft_.ids();
    const auto parents = drafted_.empty() ? std::span<const std::int32_t>(parents_)
                                          : draft_.parents();
    const float* states = decoder.step(ids, parents, work);
    std::copy(states, states + ids.size() * S,
              states_.grow((rows_ + ids.size()) * S) + rows_ * S);
    drafted_.push_back({rows_,
                        {ids.begin(), ids.end()},
                        {parents.begin(), parents.end()},
                        {decoder.focus(), decoder.focus() + ids.size()}});
    rows_ += ids.size();
    ++steps_;
    if (drafted_.size() < most) {
      extend(states_.data() + drafted_.back().first * S, shortlist, work);
    }
  }
}

/// The draft's next hypotheses, from the selected tokens.
void LosslessBeam::extend(const float* states, const Shortlist& shortlist, Workspace& work) {
  const std::size_t rows = draft_.ids().size(), C = shortlist.columns();
  float* logits = logits_.grow(rows * C);
  float* maxima = maxima_.grow(C / kGroup);
  shortlist.logits({states, rows, model_->stride()}, work, logits);
  candidates_.start(draft_.most());
  for (std::size_t r = 0; r < rows; ++r) {
    const float sum = log_sum(model_->kernels(), logits + r * C, C, maxima);
    constraints_.apply(0, logits + r * C, maxima);
    candidates_.scan({.logits = logits + r * C,
                      .maxima = maxima,
                      .columns = C,
                      .log_sum = sum,
                      .score = draft_.scores()[r],
                      .parent = static_cast<std::int32_t>(r)});
  }
  for (Candidate& candidate : candidates_.list()) {
    candidate.id = shortlist.id(static_cast<std::size_t>(candidate.id));
  }
  draft_.advance(candidates_.list(), drafted_.back().focus.data());
}

/// The best tokens of all rows of the draft.
void LosslessBeam::check(Workspace& work) {
  best_.resize(std::max(best_.size(), rows_));
  for (std::size_t r = 0; r < rows_; ++r) {
    best_[r].start(beam_.most());
  }
  all_.check({states_.data(), rows_, model_->stride()}, {}, work, [&](const LogitBlock& block) {
    best_[block.row].scan({.logits = block.logits,
                           .maxima = block.maxima,
                           .columns = block.columns,
                           .first = static_cast<std::int32_t>(block.first)});
  });
}

/// Goes through the draft as far as its hypotheses are the right ones; returns how many steps.
std::size_t LosslessBeam::accept() {
  std::size_t right = 0;
  for (std::size_t r = 0; r < drafted_.front().ids.size(); ++r) {
    parents_[r] = static_cast<std::int32_t>(r);
  }
  places_ = parents_;
  do {
    advance(drafted_[right]);
    ++right;
  } while (right < drafted_.size() && !beam_.over() && find_places(drafted_[right]));
  return right;
}

/// One step of the search over all tokens, whose hypotheses are rows `places_` of a drafted step.
void LosslessBeam::advance(const Step& step) {
  candidates_.start(beam_.most());
  focus_.clear();
  for (std::size_t h = 0; h < places_.size(); ++h) {
    const auto place = static_cast<std::size_t>(places_[h]);
    const float sum = all_.log_sum(step.first + place), score = beam_.scores()[h];
    for (const Candidate& best : std::as_const(best_[step.first + place]).list()) {
      const float log_prob = best.value - sum, value = log_prob + score;
      if (!candidates_.takes(value)) {
        break;
      }
      candidates_.consider({value, log_prob, static_cast<std::int32_t>(h), best.id});
    }
    focus_.push_back(step.focus[place]);
  }
  beam_.advance(candidates_.list(), focus_.data());
}

/// Finds every hypothesis among the rows of the next drafted step; false where one is missing.
bool LosslessBeam::find_places(const Step& next) {
  parents_.clear();
  for (std::size_t h = 0; h < beam_.ids().size(); ++h) {
    const std::int32_t parent = places_[static_cast<std::size_t>(beam_.parents()[h])];
    std::size_t row = 0;
    while (row < next.ids.size() && (next.ids[row] != beam_.ids()[h] || next.parents[row] != parent)) {
      ++row;
    }
    if (row == next.ids.size()) {
      return false;
    }
    parents_.push_back(static_cast<std::int32_t>(row));
  }
  std::swap(places_, parents_);
  return true;
}

}  // namespace sieve
