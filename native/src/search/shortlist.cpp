#include "shortlist.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>

#include "../kernels/elementary.hpp"

namespace sieve {
namespace {

/// Adds a sentence's bonuses, from number `next` on, to tokens below `end`; returns the next number.
std::size_t add_bonuses(const Sentence& sentence, std::size_t next, std::size_t end,
                        float* logits) {
  for (; next < sentence.favoured.size(); ++next) {
    const auto id = static_cast<std::size_t>(sentence.favoured[next]);
    if (id >= end) {
      break;
    }
    logits[id] += sentence.bonuses[next];
  }
  return next;
}

}  // namespace

constexpr float kNever = -std::numeric_limits<float>::infinity();  // vote for what is no candidate
constexpr std::size_t kNear = std::size_t{1} << 18;  // bytes of weights that stay in a near cache

void Shortlist::choose(const Model& model, const Selection& selection, const Sentence& sentence,
                         const FloatRows& memory, Workspace& work) {
  model_ = &model;
  mark(selection, sentence);
  const std::size_t V = choices_.size();
  ids_.clear(V);
  rows_.start(model.output());
  gathering_ = 0.0;
  rows_gathered_ = 0;
  float* logits = work.best.grow(padded(V));
  std::size_t block = V;
  bool in_blocks = false;  // rows are gathered while the head has just brought them near
  if (selection.neural) {
    const SelectionHead& head = model.head();
    head.prepare(memory, work.head);
    in_blocks = !selection.among && !head.looks_twice();
    if (in_blocks) {
      block = std::max(kGroup, kNear / head.bytes_per_token() / kGroup * kGroup);
    } else {
      vote(selection, sentence, work, logits);
    }
  }
  std::size_t above = 0, favoured = 0;
  for (std::size_t first = 0; first < V; first += block) {
    const std::size_t end = std::min(first + block, V);
    if (in_blocks) {
      model.head().vote(first, end - first, work.head, logits + first);
      favoured = add_bonuses(sentence, favoured, end, logits);
    }
    for (std::size_t i = first; i < end; ++i) {
      const bool chosen = selection.neural && logits[i] > sentence.cut;
      Choice& choice = choices_[i];
      above += chosen ? 1 : 0;
      if (choice == kOpen) {
        choice = chosen ? kIn : kLeft;
      }
      if (choice == kIn) {
        ids_.choose(static_cast<std::int32_t>(i));
      }
    }
    if (selection.neural && model.head().is_tied() && 2 * ids_.size() <= V) {
      gather();
    }
  }
  votes_ = selection.neural ? logits : nullptr;
  cut_ = sentence.cut;
  const std::size_t least = std::min(selection.least, V);
  if (selection.neural && above < least) {
    if (model.head().looks_twice()) {
      settle(least, sentence, work.head, logits);
    }
    fill_up(rank(least, logits), logits);
  }
  all_ = ids_.size() == V;
  gathered_ = 2 * ids_.size() <= V;
}

/// The votes of all tokens before any is chosen, bonuses included.
void Shortlist::vote(const Selection& selection, const Sentence& sentence, Workspace& work,
                     float* logits) {
  const std::size_t V = choices_.size();
  if (selection.among) {
    vote_among(sentence, work.head, logits);
  } else {
    model_->head().vote(0, V, work.head, logits);
  }
  add_bonuses(sentence, 0, V, logits);
  if (model_->head().looks_twice()) {
    looked_at_.assign(V, 0);
    doubtful_.clear();
    for (std::size_t i = 0; i < V; ++i) {
      if (logits[i] > sentence.cut) {
        doubtful_.push_back(static_cast<std::int32_t>(i));
      }
    }
    look_again(sentence, work.head, logits);
  }
}

/// The votes for a sentence's candidates; −∞ for all others.
void Shortlist::vote_among(const Sentence& sentence, const HeadInput& input, float* logits) {
  float* votes = gathered_votes_.grow(padded(sentence.candidates.size()));
  model_->head().vote_among(sentence.candidates, input, voters_, votes);
  std::fill(logits, logits + choices_.size(), kNever);
  for (std::size_t i = 0; i < sentence.candidates.size(); ++i) {
    logits[static_cast<std::size_t>(sentence.candidates[i])] = votes[i];
  }
}

/// Looks at the doubtful tokens: bounds become votes.
void Shortlist::look_again(const Sentence& sentence, const HeadInput& input, float* logits) {
  float* votes = gathered_votes_.grow(padded(doubtful_.size()));
  model_->head().look_again(doubtful_, input, voters_, votes);
  std::size_t next = 0;  // bonus
  for (std::size_t i = 0; i < doubtful_.size(); ++i) {
    const std::int32_t id = doubtful_[i];
    while (next < sentence.favoured.size() && sentence.favoured[next] < id) {
      ++next;
    }
    const bool favoured = next < sentence.favoured.size() && sentence.favoured[next] == id;
    const float vote = favoured ? votes[i] + sentence.bonuses[next] : votes[i];
    const auto place = static_cast<std::size_t>(id);
    logits[place] = std::min(logits[place], vote);
    looked_at_[place] = 1;
  }
}

/// The vote that `least` tokens have or exceed.
float Shortlist::rank(std::size_t least, const float* logits) {
  ranked_.assign(logits, logits + choices_.size());
  const auto last = ranked_.begin() + static_cast<std::ptrdiff_t>(least - 1);
  std::nth_element(ranked_.begin(), last, ranked_.end(), std::greater<>());
  return *last;
}

/// Looks at more tokens, until those with the `least` highest votes are known.
void Shortlist::settle(std::size_t least, const Sentence& sentence, const HeadInput& input,
                       float* logits) {
  do {
    const float cut = rank(least, logits);
    doubtful_.clear();
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      if (looked_at_[i] == 0 && logits[i] >= cut && logits[i] > kNever) {
        doubtful_.push_back(static_cast<std::int32_t>(i));
      }
    }
    look_again(sentence, input, logits);
  } while (!doubtful_.empty());
}

/// What is said of tokens before the head votes; the last one to speak is right.
void Shortlist::mark(const Selection& selection, const Sentence& sentence) {
  const auto set = [&](std::span<const std::int32_t> tokens, Choice choice) {
    for (const std::int32_t id : tokens) {
      choices_[static_cast<std::size_t>(id)] = choice;
    }
  };
  choices_.assign(model_->architecture().tgt_vocab, selection.everything ? kIn
                                                  : selection.neural   ? kOpen
                                                                       : kOut);
  set(sentence.tokens, kIn);
  set(selection.include, kIn);
  set(selection.exclude, kOut);
  set(sentence.prefix, kIn);
  choices_[static_cast<std::size_t>(model_->architecture().eos)] = kIn;
}

/// Takes the tokens whose votes reach a cut, too.
void Shortlist::fill_up(float cut, const float* logits) {
  ids_.clear(choices_.size());
  rows_.start(model_->output());
  rows_gathered_ = 0;
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    if (choices_[i] == kLeft && logits[i] >= cut && logits[i] > kNever) {
      choices_[i] = kIn;
    }
    if (choices_[i] == kIn) {
      ids_.choose(static_cast<std::int32_t>(i));
    }
  }
}

void Shortlist::gather() {
  const auto begin = std::chrono::steady_clock::now();
  rows_.append(model_->output(), ids_.from(rows_gathered_));
  rows_gathered_ = ids_.size();
  const auto end = std::chrono::steady_clock::now();
  gathering_ += std::chrono::duration<double>(end - begin).count();
}

void Shortlist::load() {
  columns_ = padded(gathered_ ? ids_.size() : model_->architecture().tgt_vocab);
  if (all_) {
    return;
  }
  if (gathered_ && rows_gathered_ < ids_.size()) {
    gather();
  }
  // rows are gathered where they are few; else other tokens are masked by their bias
  float* bias = bias_.grow(columns_);
  std::fill(bias, bias + columns_, -std::numeric_limits<float>::infinity());
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    const auto id = static_cast<std::size_t>(ids_[i]);
    bias[gathered_ ? i : id] = model_->output_bias()[id];
  }
}

void Shortlist::add(std::int32_t id) {
  const auto place = static_cast<std::size_t>(id);
  if (choices_[place] == kIn) {
    return;
  }
  choices_[place] = kIn;
  ids_.add(id);
  if (gathered_) {
    gather();
    const std::size_t before = columns_;
    columns_ = padded(ids_.size());
    float* bias = bias_.grow(columns_);
    std::fill(bias + before, bias + columns_, -std::numeric_limits<float>::infinity());
  }
  bias_[gathered_ ? ids_.size() - 1 : place] = model_->output_bias()[place];
}

float Shortlist::margin(std::span<const std::int32_t> tokens) const {
  if (votes_ == nullptr) {
    return std::numeric_limits<float>::quiet_NaN();
  }
  float least = votes_[static_cast<std::size_t>(model_->architecture().eos)];
  for (const std::int32_t id : tokens) {
    least = std::min(least, votes_[static_cast<std::size_t>(id)]);
  }
  return least - cut_;
}

void Shortlist::logits(const FloatRows& states, Workspace& work, float* out) const {
  work.activations.set(model_->kernels(), states, model_->output().input());
  const Finish finish{all_ ? model_->output_bias() : bias_.data(), {}, false};
  const Weights& weights = gathered_ ? rows_.weights() : model_->output().weights();
  work.activations.multiply(model_->kernels(), weights, out, finish);
}

float log_sum(const Kernels& kernels, const float* logits, std::size_t columns, float* maxima) {
  const float top = kernels.chunk_maxima(logits, columns, maxima);
  return top + static_cast<float>(logarithm(kernels.sum_exp(logits, columns, top)));
}

}  // namespace sieve
