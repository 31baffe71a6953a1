#include "candidates.hpp"

#include <algorithm>
#include <limits>

#include "../kernels/kernels.hpp"

namespace sieve {

constexpr std::size_t kFew = 16;
constexpr float kLowest = -std::numeric_limits<float>::infinity();

bool Candidates::takes(float value) const {
  return value > (list_.size() == most_ ? list_.back().value : kLowest);
}

void Candidates::scan(const RowOfLogits& row) {
  for (std::size_t chunk = 0; chunk < row.columns / kGroup; ++chunk) {
    if (!takes((row.maxima[chunk] - row.log_sum) + row.score)) {
      continue;
    }
    for (std::size_t c = chunk * kGroup; c < (chunk + 1) * kGroup; c += kFew) {
      scan_few(row, c);
    }
  }
}

/// Logits from a column on: mostly none is taken, which a compiler's vectors find out at once.
void Candidates::scan_few(const RowOfLogits& row, std::size_t column) {
  const float* logits = row.logits + column;
  const float least = list_.size() == most_ ? list_.back().value : kLowest;
  int taken = 0;
  for (std::size_t i = 0; i < kFew; ++i) {
    taken |= (logits[i] - row.log_sum) + row.score > least ? 1 : 0;
  }
  for (std::size_t i = 0; taken != 0 && i < kFew; ++i) {
    const float log_prob = logits[i] - row.log_sum, value = log_prob + row.score;
    if (takes(value)) {
      consider({value, log_prob, row.parent, row.first + static_cast<std::int32_t>(column + i)});
    }
  }
}

void Candidates::consider(const Candidate& candidate) {
  if (list_.size() == most_) {
    list_.pop_back();
  }
  const auto place = std::upper_bound(
      list_.begin(), list_.end(), candidate,
      [](const Candidate& a, const Candidate& b) { return a.value > b.value; });
  list_.insert(place, candidate);
}

}  // namespace sieve
