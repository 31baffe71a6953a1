// The module `sieve._native`: a model, and parts of the core that tests and benchmarks look at.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../kernels/kernels.hpp"
#include "../search/columns.hpp"
#include "arguments.hpp"
#include "native_model.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace sieve {
namespace {

/// Seconds that the fastest of `repeats` readings of so many bytes takes.
double read_seconds(std::size_t bytes, std::size_t repeats, const std::string& name) {
  const Kernels& kernels = name.empty() ? default_kernels() : kernels_named(name);
  Buffer<std::uint8_t> data(bytes);
  double best = std::numeric_limits<double>::infinity();
  volatile std::uint64_t sink = 0;
  const nb::gil_scoped_release release;
  for (std::size_t i = 0; i < repeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    sink = sink + kernels.read(data.data(), bytes);
    const auto end = std::chrono::steady_clock::now();
    best = std::min(best, std::chrono::duration<double>(end - begin).count());
  }
  return best;
}

using Floats = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Packed = nb::ndarray<const std::uint8_t, nb::ndim<4>, nb::c_contig, nb::device::cpu>;

/// The exact integers of quantised rows times a packed matrix, as (rows, channels) floats with all
/// scales one: for tests that compare CPUs.
nb::object int8_product(const Floats& x, const Packed& packed, const std::string& name,
                        float multiplier) {
  const Kernels& kernels = kernels_named(name);
  const std::size_t rows = x.shape(0), depth = x.shape(1), channels = packed.shape(0) * kGroup;
  if (depth % kGroup != 0 || packed.shape(1) != depth / 4 || packed.shape(2) != kGroup ||
      packed.shape(3) != 4) {
    throw std::invalid_argument("int8_product: shapes do not fit");
  }
  Buffer<std::int8_t> values(rows * depth);
  Buffer<float> scale(rows), ones(std::max(rows, channels));
  Buffer<std::int32_t> offset(rows);
  kernels.quantize({x.data(), rows, depth}, multiplier, values.data(), scale.data(),
                   offset.data());
  std::fill(ones.data(), ones.data() + std::max(rows, channels), 1.0F);
  auto out = std::make_unique<float[]>(std::max<std::size_t>(1, rows * channels));
  kernels.multiply_int8({values.data(), ones.data(), offset.data(), rows, depth},
                        {packed.data(), ones.data(), nullptr, channels, depth}, out.get(), {});
  return float_array(std::move(out), rows, channels);
}

/// Columns of `wanted` ids among chosen ones in ascending order and some added later, or −1: for
/// tests.
std::vector<std::int64_t> columns_of(const std::vector<std::int32_t>& chosen,
                                     const std::vector<std::int32_t>& added,
                                     const std::vector<std::int32_t>& wanted) {
  Columns columns;
  columns.clear(chosen.size());
  for (const std::int32_t id : chosen) {
    columns.choose(id);
  }
  for (const std::int32_t id : added) {
    columns.add(id);
  }
  std::vector<std::int64_t> places;
  for (const std::int32_t id : wanted) {
    places.push_back(columns.find(id));
  }
  return places;
}

}  // namespace
}  // namespace sieve

NB_MODULE(_native, m) {
  using namespace sieve;
  m.doc() = "The native core of Sieve.";
  nb::exception<ModelError>(m, "ModelError");
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const Stopped&) {  // by Ctrl-C: Python's error is set already
    }
  });
  nb::class_<Encoded>(m, "Encoded", "Encoded sentences.");
  nb::class_<NativeModel>(m, "Model", "A model ready to translate.")
      .def(nb::init<const nb::dict&, nb::dict, bool, const std::string&>(), "config"_a, "tensors"_a,
           "int8"_a, "kernels"_a = "")
      .def_prop_ro("kernels", &NativeModel::kernels)
      .def("encode", &NativeModel::encode, "source"_a, "threads"_a)
      .def("pooled_logits", &NativeModel::pooled_logits, "encoded"_a, "threads"_a,
           "last_look"_a = false)
      .def("states", &NativeModel::states, "encoded"_a)
      .def("positions", &NativeModel::positions, "encoded"_a)
      .def("translate", &NativeModel::translate, "source"_a, "selection"_a, "search"_a, "threads"_a)
      .def("score", &NativeModel::score, "source"_a, "selection"_a, "targets"_a, "threads"_a);
  m.def(
      "available_kernels",
      [] {
        std::vector<std::string> names;
        for (const Kernels* kernels : available_kernels()) {
          names.emplace_back(kernels->name);
        }
        return names;
      },
      "Names of the kernels this CPU can run, best first.");
  m.def("int8_product", &int8_product, "x"_a, "packed"_a, "kernels"_a,
        "multiplier"_a = 0.0F,
        "Integers of a quantised product; x (rows, depth), packed as in a model directory.");
  m.def("columns_of", &columns_of, "chosen"_a, "added"_a, "wanted"_a,
        "Columns of ids among chosen ones and those added later, or -1.");
  m.def("read_seconds", &read_seconds, "bytes"_a, "repeats"_a, "kernels"_a = "",
        "Seconds to read so many bytes with vector loads.");
}
