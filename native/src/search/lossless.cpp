#include "lossless.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "../kernels/elementary.hpp"

namespace sieve {
namespace {

constexpr std::size_t kFirst = 24, kMost = 48;       // steps between two checks: whole tiles
constexpr std::size_t kPatience = 3;                 // returns before every step is checked
constexpr std::size_t kNear = std::size_t{1} << 18;  // bytes of weights that stay in a cache
constexpr float kNever = -std::numeric_limits<float>::infinity();

/// Column of the highest of `columns` logits, the first one of equals.
std::size_t highest(const Kernels& kernels, const float* logits, std::size_t columns,
                    float* maxima) {
  const float top = kernels.chunk_maxima(logits, columns, maxima);
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
  bias_ = full_bias(request.selection.exclude);
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
  tokens_.push_back(shortlist.id(highest(model_->kernels(), logits, C, maxima_.grow(C / kGroup))));
}

/// Takes a step that all tokens confirm, or the token that they say instead: then false.
bool LosslessSearch::accept(std::size_t step, Shortlist& shortlist) {
  const Verdict& verdict = verdicts_[step];
  const bool right = step < prefix_.size() || tokens_[step] == verdict.best;
  const float logit = right ? verdict.chosen : verdict.top;
  scores_.push_back(logit - (verdict.top + static_cast<float>(logarithm(verdict.sum))));
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

/// Verdicts on the steps from `first` on. Logits of a block of tokens at a time are kept, no more.
void LosslessSearch::check(std::size_t first, Workspace& work) {
  const Model& model = *model_;
  const std::size_t S = model.stride(), rows = tokens_.size() - first;
  const std::size_t V = model.architecture().tgt_vocab;
  const std::size_t block = std::max(kGroup, kNear / S / kGroup * kGroup);
  float* logits = logits_.grow(rows * block);
  maxima_.grow(block / kGroup);
  verdicts_.assign(tokens_.size(), {eos_, kNever, kNever, 0.0});
  hidden_.assign(rows, {});
  work.activations.set(model.kernels(), {states_.data() + first * S, rows, S},
                       model.output().input());
  for (std::size_t begin = 0; begin < V; begin += block) {
    const Block range{begin, padded(std::min(block, V - begin))};
    work.activations.multiply(model.kernels(), model.output().part(begin, block), logits,
                              {bias_ + begin, {}, false});
    for (std::size_t r = 0; r < rows; ++r) {
      float* row = logits + r * range.columns;
      const auto chosen = static_cast<std::size_t>(tokens_[first + r]);
      if (range.holds(chosen)) {
        verdicts_[first + r].chosen = row[chosen - begin];
      }
      hide(range, row, hidden_[r]);
      judge(range, row, verdicts_[first + r]);
    }
  }
  for (std::size_t r = 0; r < rows; ++r) {
    for (const float logit : hidden_[r]) {
      verdicts_[first + r].sum += exponential(static_cast<double>(logit) - verdicts_[first + r].top);
    }
  }
}

/// Takes tokens that no translation contains out of a row; they count only in its sum.
void LosslessSearch::hide(const Block& range, float* row, std::vector<float>& hidden) const {
  for (const std::int32_t id : model_->architecture().never) {
    if (range.holds(static_cast<std::size_t>(id))) {
      hidden.push_back(std::exchange(row[static_cast<std::size_t>(id) - range.begin], kNever));
    }
  }
}

void LosslessSearch::judge(const Block& range, const float* row, Verdict& verdict) {
  const Kernels& kernels = model_->kernels();
  const std::size_t best = highest(kernels, row, range.columns, maxima_.data());
  if (row[best] > verdict.top) {
    verdict.sum *= exponential(static_cast<double>(verdict.top) - row[best]);
    verdict.top = row[best];
    verdict.best = static_cast<std::int32_t>(range.begin + best);
  }
  if (verdict.top > kNever) {
    verdict.sum += kernels.sum_exp(row, range.columns, verdict.top);
  }
}

/// The output layer's biases; −inf for excluded tokens, unless required, and where there is none.
const float* LosslessSearch::full_bias(std::span<const std::int32_t> exclude) {
  if (exclude.empty()) {
    return model_->output_bias();
  }
  const std::size_t V = model_->architecture().tgt_vocab;
  float* masked = masked_.grow(padded(V));
  std::copy(model_->output_bias(), model_->output_bias() + padded(V), masked);
  for (const std::int32_t id : exclude) {
    if (id != eos_ && std::find(prefix_.begin(), prefix_.end(), id) == prefix_.end()) {
      masked[static_cast<std::size_t>(id)] = kNever;
    }
  }
  return masked;
}

}  // namespace sieve
