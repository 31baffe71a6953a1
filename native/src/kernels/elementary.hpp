// exp, log, sin and cos, made of sums, products and quotients of doubles alone: the C library's own
// differ in their last digits from CPU to CPU. Exact to three units in the last place.
#pragma once

namespace sieve {

/// 0 below the smallest normal double.
double exponential(double x);
/// −∞ of 0; NaN of what lies below.
double logarithm(double x);
/// For angles of at most 10⁶ in magnitude.
double sine(double angle);
double cosine(double angle);
/// `base` (above 0) to a power.
inline double power(double base, double exponent) { return exponential(exponent * logarithm(base)); }

}  // namespace sieve
