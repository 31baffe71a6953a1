// Which token has which column of a sentence's logits. Knows no weights.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sieve {

/// Chosen tokens in the order of their ids, those that are added later behind them.
class Columns {
 public:
  void clear(std::size_t room) {
    ids_.clear();
    ids_.reserve(room);
    sorted_ = 0;
  }
  /// The next chosen token: its id is above those before it.
  void choose(std::int32_t id) {
    ids_.push_back(id);
    sorted_ = ids_.size();
  }
  /// One more, whatever its id; nothing is chosen after that.
  void add(std::int32_t id) { ids_.push_back(id); }

  std::size_t size() const { return ids_.size(); }
  std::int32_t operator[](std::size_t column) const { return ids_[column]; }
  std::span<const std::int32_t> from(std::size_t column) const {
    return std::span(ids_).subspan(column);
  }
  /// Column of a token, or −1.
  std::int64_t find(std::int32_t id) const {
    const auto middle = ids_.begin() + static_cast<std::ptrdiff_t>(sorted_);
    auto place = std::lower_bound(ids_.begin(), middle, id);
    if (place == middle || *place != id) {
      place = std::find(middle, ids_.end(), id);
    }
    return place == ids_.end() ? -1 : place - ids_.begin();
  }

 private:
  std::vector<std::int32_t> ids_;
  std::size_t sorted_ = 0;  // so many were chosen
};

}  // namespace sieve
