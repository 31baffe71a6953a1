// What a translation must begin with and must not contain. Forbidden tokens still count in
// probabilities: Marian and transformers do the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shortlist.hpp"

namespace sieve {

class Constraints {
 public:
  void start(const SearchOptions& options, std::span<const std::int32_t> prefix,
             const Shortlist& shortlist);
  /// Whether a search needs any.
  static bool wanted(const SearchOptions& options, std::span<const std::int32_t> prefix,
                     const Architecture& model) {
    return !prefix.empty() || !options.blocked.empty() || !model.never.empty();
  }
  /// Sets to −inf what row `row` may not say next; keeps the maxima of chunks of 64 true.
  void apply(std::size_t row, float* logits, float* maxima) const;
  /// Row r goes on from row parents[r] with ids[r].
  void update(std::span<const std::int32_t> ids, std::span<const std::int32_t> parents);

 private:
  void forbid(std::int64_t column, float* logits, float* maxima) const;

  const SearchOptions* options_ = nullptr;
  std::span<const std::int32_t> prefix_;
  const Shortlist* shortlist_ = nullptr;
  std::vector<std::int64_t> never_;  // columns
  std::vector<std::int64_t> last_;   // column of each sequence's last token
  std::size_t depth_ = 0, position_ = 0;
  std::vector<std::int32_t> recent_, moved_;  // (rows, depth) newest last
};

}  // namespace sieve
