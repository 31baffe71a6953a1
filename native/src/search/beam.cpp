#include "beam.hpp"

#include <algorithm>
#include <limits>

#include "../kernels/elementary.hpp"

namespace sieve {

constexpr float kNever = -std::numeric_limits<float>::infinity();

void Beam::start(const Sentence& sentence, const SearchOptions& options,
                 const Architecture& model) {
  options_ = &options;
  limit_ = sentence.limit;
  step_ = 0;
  over_ = limit_ == 0;
  most_ = options.sampling ? options.rows : 2 * options.rows;
  const std::size_t living = options.sampling ? options.rows : 1;
  scores_.assign(living, 0.0F);
  ids_.assign(living, model.start);
  eos_ = model.eos;
  parents_.assign(living, 0);
  history_.clear();
  alive_.clear();
  focus_.clear();
  finished_.clear();
  const std::size_t usual = std::min<std::size_t>(limit_, 256);  // room, so that no step allocates
  history_.reserve(usual * most_);
  alive_.reserve(usual * options.rows);
  finished_.reserve(options.rows + 1);
  if (options.alignment) {
    focus_.reserve(usual * options.rows);
  }
}

void Beam::advance(std::span<const Candidate> candidates, const std::int32_t* focus) {
  if (options_->alignment) {
    focus_.insert(focus_.end(), focus, focus + scores_.size());
    focus_.resize((step_ + 1) * options_->rows);
  }
  finish(candidates);
  live_on(candidates);
  ++step_;
  over_ = ended();
}

std::vector<Hypothesis> Beam::best() const {
  std::vector<Hypothesis> best;
  for (std::size_t i = 0; i < std::min(options_->n_best, finished_.size()); ++i) {
    best.push_back(follow(finished_[i]));
  }
  return best;
}

float Beam::weight(std::size_t length) const {
  return static_cast<float>(
      power(static_cast<double>(std::max<std::size_t>(1, length)), -options_->length_penalty));
}

/// Merges the ending ones of the best K candidates into the finished hypotheses.
void Beam::finish(std::span<const Candidate> candidates) {
  const bool cut = step_ + 1 >= limit_;
  const float factor = weight(step_ + 1);
  const std::size_t kept = options_->rows;
  for (std::size_t rank = 0; rank < std::min(kept, candidates.size()); ++rank) {
    const Candidate& candidate = candidates[rank];
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

void Beam::live_on(std::span<const Candidate> candidates) {
  const SearchOptions& options = *options_;
  const std::size_t before = history_.size();
  history_.insert(history_.end(), candidates.begin(), candidates.end());
  history_.resize(before + most_);
  const std::size_t first = alive_.size();
  scores_.clear();
  ids_.clear();
  parents_.clear();
  for (std::size_t rank = 0; rank < candidates.size() && scores_.size() < options.rows; ++rank) {
    const Candidate& candidate = candidates[rank];
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

bool Beam::ended() const {
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

Hypothesis Beam::follow(const Finished& end) const {
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
