// One request from Python, and what keeps its arrays alive.
#pragma once

#include <vector>

#include "../search/request.hpp"
#include "arguments.hpp"

namespace sieve {

class Call {
 public:
  explicit Call(const Architecture& architecture) : architecture_(architecture) {}

  /// Takes the sentences as ids.
  void read(Ragged source);
  /// Takes what `native_plan` made of a selection, and the prefixes, if any.
  void select(const nb::dict& selection, const nb::object& prefixes);
  /// Takes what `search_arguments` made of a search.
  void search(const nb::dict& options);

  Request request;

 private:
  void select_by_head(const nb::dict& selection);
  void add_bonuses(const nb::tuple& given);
  void set_limits(const nb::dict& options);

  const Architecture& architecture_;
  Ragged source_, tokens_, prefixes_, favoured_, candidates_;
  Ids include_, exclude_;
  Floats cuts_, bonuses_;
};

}  // namespace sieve
