#include "search.hpp"

#include <algorithm>
#include <limits>

#include "../kernels/elementary.hpp"

namespace sieve {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

/// A good 32-bit hash (lowbias32).
std::uint32_t mix(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7FEB352DU;
  x = (x ^ (x >> 15)) * 0x846CA68BU;
  return x ^ (x >> 16);
}

/// Standard Gumbel noise that depends on a row's key and a token alone.
float gumbel(std::uint32_t row, std::int32_t id) {
  const std::uint32_t bits = mix(row ^ mix(static_cast<std::uint32_t>(id) * 0x85EBCA6BU));
  const double uniform = (static_cast<double>(bits) + 0.5) / 4294967296.0;
  return static_cast<float>(-logarithm(-logarithm(uniform)));
}

}  // namespace

std::vector<Hypothesis> Search::run(const Sentence& sentence, const SearchOptions& options,
                                    Decoder& decoder, const Shortlist& shortlist, Workspace& work,
                                    Interrupt& interrupt) {
  start(sentence, options, shortlist);
  const std::size_t columns = shortlist.columns();
  float* logits = logits_.grow(options.rows * columns);
  while (step_ < limit_ && !scores_.empty()) {
    if (interrupt.stopped()) {
      throw Stopped{};
    }
    const std::size_t rows = scores_.size();
    const float* states = decoder.step(ids_, parents_, work);
    shortlist.logits({states, rows, decoder.model().stride()}, work, logits);
    finish_logits(decoder.model().kernels(), rows, columns);
    if (options.alignment) {
      focus_.insert(focus_.end(), decoder.focus(), decoder.focus() + rows);
      focus_.resize((step_ + 1) * options.rows);
    }
    if (options.sampling) {
      draw(shortlist, logits);
    } else {
      find_candidates(shortlist, logits);
    }
    finish();
    live_on();
    ++step_;
    if (ended()) {
      break;
    }
    if (constrained_) {
      constraints_.update(ids_, parents_);
    }
  }
  std::vector<Hypothesis> best;
  for (std::size_t i = 0; i < std::min(options.n_best, finished_.size()); ++i) {
    best.push_back(follow(finished_[i]));
  }
  return best;
}

void Search::start(const Sentence& sentence, const SearchOptions& options,
                   const Shortlist& shortlist) {
  options_ = &options;
  key_ = sentence.key;
  limit_ = sentence.limit;
  step_ = 0;
  most_ = options.sampling ? options.rows : 2 * options.rows;
  const std::size_t living = options.sampling ? options.rows : 1;
  scores_.assign(living, 0.0F);
  ids_.assign(living, shortlist.architecture().start);
  eos_ = shortlist.architecture().eos;
  parents_.assign(living, 0);
  history_.clear();
  alive_.clear();
  focus_.clear();
  finished_.clear();
  const std::size_t usual = std::min<std::size_t>(limit_, 256);  // room, so that no step allocates
  history_.reserve(usual * most_);
  alive_.reserve(usual * options.rows);
  candidates_.reserve(most_);
  finished_.reserve(options.rows + 1);
  if (options.alignment) {
    focus_.reserve(usual * options.rows);
  }
  constrained_ = Constraints::wanted(options, sentence.prefix, shortlist.architecture());
  if (constrained_) {
    constraints_.start(options, sentence.prefix, shortlist);
  }
  maxima_.grow(options.rows * (shortlist.columns() / kGroup));
  log_sums_.resize(options.rows);
}

/// Sums of the logits of `rows` rows, maxima of their chunks, and what constraints forbid.
void Search::finish_logits(const Kernels& kernels, std::size_t rows, std::size_t columns) {
  for (std::size_t r = 0; r < rows; ++r) {
    float* row = logits_.data() + r * columns;
    float* maxima = maxima_.data() + r * (columns / kGroup);
    log_sums_[r] = log_sum(kernels, row, columns, maxima);
    if (constrained_) {
      constraints_.apply(r, row, maxima);
    }
  }
}

void Search::find_candidates(const Shortlist& shortlist, const float* logits) {
  const std::size_t S = shortlist.columns();
  candidates_.clear();
  for (std::size_t r = 0; r < scores_.size(); ++r) {
    const float* row = logits + r * S;
    const float* maxima = maxima_.data() + r * (S / kGroup);
    for (std::size_t chunk = 0; chunk < S / kGroup; ++chunk) {
      const float best = (maxima[chunk] - log_sums_[r]) + scores_[r];
      if (candidates_.size() == most_ && !(best > candidates_.back().value)) {
        continue;
      }
      for (std::size_t c = chunk * kGroup; c < (chunk + 1) * kGroup; ++c) {
        const float log_prob = row[c] - log_sums_[r];
        const float value = log_prob + scores_[r];
        if (value > (candidates_.size() == most_ ? candidates_.back().value : kNever)) {
          consider({value, log_prob, static_cast<std::int32_t>(r), static_cast<std::int32_t>(c)});
        }
      }
    }
  }
  for (Candidate& candidate : candidates_) {
    candidate.id = shortlist.id(static_cast<std::size_t>(candidate.id));
  }
}

/// Candidates come in the order of their places, so that of equals the first one stays ahead.
void Search::consider(const Candidate& candidate) {
  if (candidates_.size() == most_) {
    candidates_.pop_back();
  }
  const auto place = std::upper_bound(
      candidates_.begin(), candidates_.end(), candidate,
      [](const Candidate& a, const Candidate& b) { return a.value > b.value; });
  candidates_.insert(place, candidate);
}

void Search::draw(const Shortlist& shortlist, const float* logits) {
  const std::size_t S = shortlist.columns(), n = scores_.size();
  candidates_.clear();
  for (std::size_t r = 0; r < n; ++r) {
    const float* row = logits + r * S;
    float least = kNever;
    if (options_->top_k > 0 && options_->top_k < S) {
      const auto rank = static_cast<std::ptrdiff_t>(options_->top_k - 1);
      sorted_.assign(row, row + S);
      std::nth_element(sorted_.begin(), sorted_.begin() + rank, sorted_.end(), std::greater<>());
      least = sorted_[options_->top_k - 1];
    }
    const std::uint32_t sample = mix(key_ ^ mix(static_cast<std::uint32_t>(r) * 0xC2B2AE35U));
    const std::uint32_t noise = mix(sample ^ mix(static_cast<std::uint32_t>(step_) * 0x9E3779B1U));
    float best = kNever;
    std::size_t column = 0;
    for (std::size_t c = 0; c < S; ++c) {
      if (row[c] == kNever || row[c] < least) {
        continue;
      }
      const float value = row[c] / options_->temperature + gumbel(noise, shortlist.id(c));
      if (value > best) {
        best = value;
        column = c;
      }
    }
    const float log_prob = row[column] - log_sums_[r];
    candidates_.push_back({scores_[r] + log_prob, log_prob, static_cast<std::int32_t>(r),
                           shortlist.id(column)});
  }
}

float Search::weight(std::size_t length) const {
  return static_cast<float>(
      power(static_cast<double>(std::max<std::size_t>(1, length)), -options_->length_penalty));
}

/// Merges the ending ones of the best K candidates into the finished hypotheses.
void Search::finish() {
  const bool cut = step_ + 1 >= limit_;
  const float factor = weight(step_ + 1);
  const std::size_t kept = options_->rows;
  for (std::size_t rank = 0; rank < std::min(kept, candidates_.size()); ++rank) {
    const Candidate& candidate = candidates_[rank];
    if ((candidate.id != eos_ && !cut) || !(candidate.value > kNever)) {
      continue;
    }
    const Finished end{candidate.value * factor, step_, rank};
    const auto place =
        std::upper_bound(finished_.begin(), finished_.end(), end,
                         [](const Finished& a, const Finished& b) { return a.value > b.value; });
    finished_.insert(place, end);
    if (finished_.size() > kept) {
      finished_.pop_back();
    }
  }
}

void Search::live_on() {
  const SearchOptions& options = *options_;
  const std::size_t before = history_.size();
  history_.insert(history_.end(), candidates_.begin(), candidates_.end());
  history_.resize(before + most_);
  const std::size_t first = alive_.size();
  scores_.clear();
  ids_.clear();
  parents_.clear();
  for (std::size_t rank = 0; rank < candidates_.size() && scores_.size() < options.rows; ++rank) {
    const Candidate& candidate = candidates_[rank];
    const bool lives = candidate.id != eos_ && candidate.value > kNever;
    if (!lives && !options.sampling) {
      continue;
    }
    scores_.push_back(lives ? candidate.value : kNever);  // a sample keeps its row
    ids_.push_back(candidate.id);
    parents_.push_back(candidate.parent);
    alive_.push_back(static_cast<std::int32_t>(rank));
  }
  alive_.resize(first + options.rows);
}

/// Whether nothing better can follow.
bool Search::ended() const {
  const SearchOptions& options = *options_;
  const float best = scores_.empty() ? kNever : *std::max_element(scores_.begin(), scores_.end());
  if (!(best > kNever) || step_ >= limit_) {
    return true;
  }
  const bool greedy = !options.sampling && options.rows == 1;
  if ((options.stop_first || greedy || options.sampling) && finished_.size() >= options.rows) {
    return true;
  }
  return finished_.size() >= options.n_best &&
         finished_[options.n_best - 1].value >= best * weight(limit_);
}

Hypothesis Search::follow(const Finished& end) const {
  Hypothesis found;
  std::size_t rank = end.rank;
  for (std::size_t step = end.step + 1; step-- > 0;) {
    const Candidate& candidate = history_[step * most_ + rank];
    const auto row = static_cast<std::size_t>(candidate.parent);
    found.tokens.push_back(candidate.id);
    found.scores.push_back(candidate.log_prob);
    if (options_->alignment) {
      found.positions.push_back(focus_[step * options_->rows + row]);
    }
    if (step > 0) {
      rank = static_cast<std::size_t>(alive_[(step - 1) * options_->rows + row]);
    }
  }
  std::reverse(found.tokens.begin(), found.tokens.end());
  std::reverse(found.scores.begin(), found.scores.end());
  std::reverse(found.positions.begin(), found.positions.end());
  if (found.tokens.back() == eos_) {
    found.tokens.pop_back();
    if (options_->alignment) {
      found.positions.pop_back();
    }
  }
  return found;
}

}  // namespace sieve
