// The only file that knows Python: arrays in, arrays out.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <stdexcept>
#include <string>

#include "kernels.hpp"

namespace nb = nanobind;

namespace {

using Int8Vector = nb::ndarray<const std::int8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr std::size_t kMaxDotLength = 131072;

std::int32_t dot_int8(const Int8Vector& a, const Int8Vector& b) {
  const std::size_t n = a.shape(0);
  if (n != b.shape(0)) {
    throw std::invalid_argument("dot_int8: the lengths differ: " + std::to_string(n) + " and " +
                                std::to_string(b.shape(0)));
  }
  if (n > kMaxDotLength) {
    throw std::invalid_argument("dot_int8: length " + std::to_string(n) + " is above " +
                                std::to_string(kMaxDotLength) + ", the sum may not fit 32 bits");
  }
  nb::gil_scoped_release release;
  return sieve::dot_int8(a.data(), b.data(), n);
}

}  // namespace

NB_MODULE(_native, m) {
  m.doc() = "The native core of Sieve.";
  m.def("dot_int8", &dot_int8, nb::arg("a"), nb::arg("b"),
        "Dot product of two int8 vectors in exact 32-bit integers.");
}
