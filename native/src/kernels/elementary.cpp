#include "elementary.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace sieve {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMagic = 6755399441055744.0;  // adding it rounds to whole numbers
constexpr double kInverseLog2 = 1.4426950408889634;
constexpr double kLog2High = 0.6931471803691238, kLog2Low = 1.9082149292705877e-10;
constexpr double kTwoOverPi = 0.6366197723675814;
constexpr double kHalfPiHigh = 1.5707963267341256, kHalfPiLow = 6.077100506506192e-11;

/// Σ c_i x^i, the last coefficient first.
template <std::size_t N>
double polynomial(double x, const std::array<double, N>& coefficients) {
  double sum = 0.0;
  for (const double coefficient : coefficients) {
    sum = sum * x + coefficient;
  }
  return sum;
}

/// Σ sign^i x^i / (first + step · i)! from `N - 1` on down to 0.
template <std::size_t N>
constexpr std::array<double, N> taylor(double sign, std::size_t first, std::size_t step) {
  std::array<double, N> found{};
  for (std::size_t i = 0; i < N; ++i) {
    double value = 1.0;
    for (std::size_t n = 1; n <= first + step * i; ++n) {
      value /= static_cast<double>(n);
    }
    found[N - 1 - i] = i % 2 == 1 ? sign * value : value;
  }
  return found;
}

/// 1, 1/3, 1/5 …
template <std::size_t N>
constexpr std::array<double, N> odd_quotients() {
  std::array<double, N> found{};
  for (std::size_t i = 0; i < N; ++i) {
    found[N - 1 - i] = 1.0 / static_cast<double>(2 * i + 1);
  }
  return found;
}

double two_to(std::int64_t power) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(power + 1023) << 52);
}

/// An angle as a number of quarter turns and what is left, at most π/4.
struct Turned {
  explicit Turned(double angle) {
    const double whole = (angle * kTwoOverPi + kMagic) - kMagic;
    quarters = static_cast<std::int64_t>(whole);
    rest = (angle - whole * kHalfPiHigh) - whole * kHalfPiLow;
  }
  /// Of `quarters` + `ahead` quarter turns and the rest.
  double sine(std::int64_t ahead) const {
    static constexpr auto kSine = taylor<9>(-1.0, 1, 2);
    static constexpr auto kCosine = taylor<10>(-1.0, 0, 2);
    const double square = rest * rest;
    const std::int64_t quarter = (quarters + ahead) & 3;
    const double value =
        quarter % 2 == 0 ? rest * polynomial(square, kSine) : polynomial(square, kCosine);
    return quarter >= 2 ? -value : value;
  }
  std::int64_t quarters;
  double rest;
};

}  // namespace

double exponential(double x) {
  if (!(x > -708.0)) {
    return x != x ? x : 0.0;
  }
  if (x > 709.0) {
    return kInfinity;
  }
  static constexpr auto kTerms = taylor<14>(1.0, 0, 1);
  const double whole = (x * kInverseLog2 + kMagic) - kMagic;
  const double rest = (x - whole * kLog2High) - whole * kLog2Low;
  return polynomial(rest, kTerms) * two_to(static_cast<std::int64_t>(whole));
}

double logarithm(double x) {
  if (!(x > 0.0) || x == kInfinity) {
    return x == 0.0 ? -kInfinity : x > 0.0 ? x : std::numeric_limits<double>::quiet_NaN();
  }
  static constexpr auto kTerms = odd_quotients<11>();
  int exponent = 0;
  double part = std::frexp(x, &exponent);
  if (part < 0.7071067811865476) {
    part *= 2.0;
    --exponent;
  }
  const double s = (part - 1.0) / (part + 1.0);
  return exponent * kLog2High + (2.0 * s * polynomial(s * s, kTerms) + exponent * kLog2Low);
}

double sine(double angle) { return Turned(angle).sine(0); }

double cosine(double angle) { return Turned(angle).sine(1); }

}  // namespace sieve
