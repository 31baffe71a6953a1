// What a translation must begin with and must not contain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "words.hpp"

namespace sieve {

/// A sequence that no translation may contain.
struct Blocked {
  std::vector<std::int32_t> tokens;
  bool at_word_start = false;  // only where the token before it does not open a word
};

class Constraints {
 public:
  void start(const std::vector<Blocked>& blocked, const std::vector<std::uint8_t>& opens,
             std::span<const std::int32_t> prefix, const OutputWords& words, std::size_t rows);
  /// Sets to −inf what row `row` may not say next.
  void apply(std::size_t row, float* logits) const;
  /// Row r goes on from row parents[r] with ids[r].
  void update(std::span<const std::int32_t> ids, std::span<const std::int32_t> parents);

 private:
  const std::vector<Blocked>* blocked_ = nullptr;
  const std::vector<std::uint8_t>* opens_ = nullptr;
  std::span<const std::int32_t> prefix_;
  const OutputWords* words_ = nullptr;
  std::vector<std::int64_t> last_;  // column of each sequence's last word
  std::size_t depth_ = 0, position_ = 0;
  std::vector<std::int32_t> recent_, moved_;  // (rows, depth) newest last
};

}  // namespace sieve
