#include "lossless.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sieve {
namespace {

constexpr std::size_t kFirst = 24, kMost = 48;       // steps between two checks: whole tiles
constexpr std::size_t kPatience = 3;                 // returns before every step is checked
constexpr float kNever = -std::numeric_limits<float>::infinity();

/// Column of the highest logit, the first one of equals.
std::size_t place_of(float top, const float* logits, const float* maxima, std::size_t columns) {
  std::size_t chunk = 0;
  while (chunk + 1 < columns / kGroup && maxima[chunk] != top) {
    ++chunk;
  }
  const float* from = logits + chunk * kGroup;
  return chunk * kGroup +
         static_cast<std::size_t>(std::find(from, from + kGroup - 1, top) - from);
}

}  // namespace

std::vector<Hypothesis> LosslessSearch::run(const Sentence& sentence, const Request& request,
                                            Decoder& decoder, Shortlist& shortlist, Workspace& work,
                                            Interrupt& interrupt) {
  const Model& model = decoder.model();
  steps_ = returns_ = 0;
  tokens_.clear();
  focus_.clear();
  scores_.clear();
  prefix_ = sentence.prefix;
  model_ = &model;
  eos_ = model.architecture().eos;
  all_.start(model, request.selection.exclude, prefix_);
  decoder.remember();
  for (std::size_t interval = kFirst, sure = 0; sure < sentence.limit;) {
    while (tokens_.size() < std::min(sentence.limit, sure + interval) &&
           (tokens_.size() == sure || tokens_.back() != eos_)) {
      if (interrupt.stopped()) {
        throw Stopped{};
      }
      draft(decoder, shortlist, work);
    }
    check(sure, work);
    bool right = true;
    for (; sure < tokens_.size() && right; ++sure) {
      right = accept(sure, shortlist);
      if (!std::isfinite(scores_.back())) {
        return {};
      }
    }
    tokens_.resize(sure);
    focus_.resize(sure);
    decoder.rewind(sure);
    interval = right ? std::min(2 * interval, kMost) : std::max(interval / 4, std::size_t{1});
    if (returns_ >= kPatience) {
      interval = 1;
    }
    if (tokens_.back() == eos_) {
      break;
    }
  }
  return {result(request.search.alignment)};
}

/// One step with the selected tokens.
void LosslessSearch::draft(Decoder& decoder, const Shortlist& shortlist, Workspace& work) {
  const std::size_t step = tokens_.size(), S = decoder.model().stride(), C = shortlist.columns();
  const std::int32_t before = step == 0 ? model_->architecture().start : tokens_.back(), parent = 0;
  const float* state = decoder.step({&before, 1}, {&parent, 1}, work);
  std::copy(state, state + S, states_.grow((step + 1) * S) + step * S);
  focus_.push_back(decoder.focus()[0]);
  ++steps_;
  if (step < prefix_.size()) {
    tokens_.push_back(prefix_[step]);
    return;
  }
  float* logits = logits_.grow(C);
  shortlist.logits({state, 1, S}, work, logits);
  for (const std::int32_t id : model_->architecture().never) {
    const std::int64_t column = shortlist.column(id);
    if (column >= 0) {
      logits[column] = kNever;
    }
  }
  float* maxima = maxima_.grow(C / kGroup);
  const float top = model_->kernels().chunk_maxima(logits, C, maxima);
  tokens_.push_back(shortlist.id(place_of(top, logits, maxima, C)));
}

/// Takes a step that all tokens confirm, or the token that they say instead: then false.
bool LosslessSearch::accept(std::size_t step, Shortlist& shortlist) {
  const Verdict& verdict = verdicts_[step];
  const bool right = step < prefix_.size() || tokens_[step] == verdict.best;
  const float logit = right ? verdict.chosen : verdict.top;
  scores_.push_back(logit - verdict.log_sum);
  if (!right && std::isfinite(scores_.back())) {
    shortlist.add(verdict.best);
    tokens_[step] = verdict.best;
    ++returns_;
  }
  return right;
}

Hypothesis LosslessSearch::result(bool alignment) const {
  Hypothesis best{tokens_, scores_, {}, 0.0F};
  if (tokens_.back() == eos_) {
    best.tokens.pop_back();
  }
  if (alignment) {
    best.positions.assign(focus_.begin(),
                          focus_.begin() + static_cast<std::ptrdiff_t>(best.tokens.size()));
  }
  return best;
}

/// Verdicts on the steps from `first` on.
void LosslessSearch::check(std::size_t first, Workspace& work) {
  const std::size_t S = model_->stride(), rows = tokens_.size() - first;
  verdicts_.assign(tokens_.size(), {eos_, kNever, kNever, 0.0F});
  const std::span<const std::int32_t> chosen = std::span(tokens_).subspan(first);
  all_.check({states_.data() + first * S, rows, S}, chosen, work, [&](const LogitBlock& block) {
    Verdict& verdict = verdicts_[first + block.row];
    if (block.top > verdict.top) {
      verdict.top = block.top;
      verdict.best = static_cast<std::int32_t>(
          block.first + place_of(block.top, block.logits, block.maxima, block.columns));
    }
  });
  for (std::size_t r = 0; r < rows; ++r) {
    verdicts_[first + r].chosen = all_.chosen(r);
    verdicts_[first + r].log_sum = all_.log_sum(r);
  }
}

}  // namespace sieve
