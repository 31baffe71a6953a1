// What a translation must begin with and must not contain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "words.hpp"

namespace sieve {

class Constraints {
 public:
  void start(const SearchOptions& options, std::span<const std::int32_t> prefix,
             const OutputWords& words);
  /// Sets to −inf what row `row` may not say next.
  void apply(std::size_t row, float* logits) const;
  /// Row r goes on from row parents[r] with ids[r].
  void update(std::span<const std::int32_t> ids, std::span<const std::int32_t> parents);

 private:
  const SearchOptions* options_ = nullptr;
  std::span<const std::int32_t> prefix_;
  const OutputWords* words_ = nullptr;
  std::vector<std::int64_t> last_;  // column of each sequence's last word
  std::size_t depth_ = 0, position_ = 0;
  std::vector<std::int32_t> recent_, moved_;  // (rows, depth) newest last
};

}  // namespace sieve
