// What Python hands over, checked and in the terms of the core.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "../search/search.hpp"

namespace sieve {

namespace nb = nanobind;

using Ids = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Floats = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Refuses ids that no vocabulary of so many tokens has.
void check_ids(const std::string& name, std::span<const std::int32_t> ids, std::size_t vocab);

/// Rows of different lengths, one behind the other: row i is ids[offsets[i]:offsets[i + 1]].
struct Ragged {
  Ids ids;
  Numbers offsets;

  std::size_t size() const { return offsets.shape(0) - 1; }

  std::span<const std::int32_t> row(std::size_t i) const {
    const auto first = static_cast<std::size_t>(offsets.data()[i]);
    const auto last = static_cast<std::size_t>(offsets.data()[i + 1]);
    return {ids.data() + first, last - first};
  }

  /// Refuses rows that are not `rows` many or hold ids of `vocab` or more.
  void check(const std::string& name, std::size_t rows, std::size_t vocab) const;
};

/// From a pair (ids, offsets).
Ragged ragged(const nb::handle& value);

/// Views of arrays by name; whoever calls keeps them alive.
Tensors tensors_of(const nb::dict& arrays);

Architecture architecture_of(const nb::dict& config);

SearchOptions options_of(const nb::dict& given, std::size_t vocab);

/// An array (rows, columns) for Python, which from now on owns the values.
nb::object float_array(std::unique_ptr<float[]> values, std::size_t rows, std::size_t columns);

}  // namespace sieve
