#include "constraints.hpp"

#include <algorithm>
#include <limits>

namespace sieve {

constexpr float kNever = -std::numeric_limits<float>::infinity();

void Constraints::start(const SearchOptions& options, std::span<const std::int32_t> prefix,
                        const Shortlist& shortlist) {
  options_ = &options;
  prefix_ = prefix;
  shortlist_ = &shortlist;
  position_ = 0;
  depth_ = 1;
  never_.clear();
  for (const std::int32_t id : shortlist.architecture().never) {
    never_.push_back(shortlist.column(id));
  }
  last_.clear();
  for (const Blocked& one : options.blocked) {
    depth_ = std::max(depth_, one.tokens.size());
    last_.push_back(shortlist.column(one.tokens.back()));
  }
  recent_.assign(options.rows * depth_, shortlist.architecture().start);
  moved_.assign(options.rows * depth_, shortlist.architecture().start);
}

void Constraints::forbid(std::int64_t column, float* logits, float* maxima) const {
  if (column >= 0) {
    const auto place = static_cast<std::size_t>(column), chunk = place / kGroup;
    logits[place] = kNever;
    shortlist_->kernels().chunk_maxima(logits + chunk * kGroup, kGroup, maxima + chunk);
  }
}

void Constraints::apply(std::size_t row, float* logits, float* maxima) const {
  if (position_ < prefix_.size()) {
    const auto kept = static_cast<std::size_t>(shortlist_->column(prefix_[position_]));
    const float value = logits[kept];
    std::fill(logits, logits + shortlist_->columns(), kNever);
    logits[kept] = value;
    shortlist_->kernels().chunk_maxima(logits, shortlist_->columns(), maxima);
    return;
  }
  for (const std::int64_t column : never_) {
    forbid(column, logits, maxima);
  }
  const std::int32_t* newest = recent_.data() + (row + 1) * depth_;
  for (std::size_t i = 0; i < options_->blocked.size(); ++i) {
    const Blocked& sequence = options_->blocked[i];
    const auto said = static_cast<std::ptrdiff_t>(sequence.tokens.size() - 1);
    if (!std::equal(sequence.tokens.begin(), sequence.tokens.end() - 1, newest - said)) {
      continue;
    }
    const std::int32_t before = *(newest - said - 1);
    const bool inside = before != kNoId && options_->opens[static_cast<std::size_t>(before)] != 0;
    if (!sequence.at_word_start || !inside) {
      forbid(last_[i], logits, maxima);
    }
  }
}

void Constraints::update(std::span<const std::int32_t> ids,
                         std::span<const std::int32_t> parents) {
  for (std::size_t r = 0; r < ids.size(); ++r) {
    const auto parent = static_cast<std::size_t>(parents[r]);
    const std::int32_t* from = recent_.data() + parent * depth_;
    std::int32_t* to = moved_.data() + r * depth_;
    std::copy(from + 1, from + depth_, to);
    to[depth_ - 1] = ids[r];
  }
  std::swap(recent_, moved_);
  ++position_;
}

}  // namespace sieve
