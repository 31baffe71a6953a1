// Vectors of the compiler's own kind, as wide as the file that includes this asks for
// (SIEVE_LANES), and the functions on them that a CPU has no instruction for.
//
// Every CPU gives the same bytes: sums are taken in an order that does not depend on a vector's width,
// and the compiler is told to round each product and each sum (-ffp-contract=off).
//
// Included inside an unnamed namespace, and without templates of the standard library: code
// compiled for one CPU must not be merged by the linker with code of the same name compiled for another.

constexpr std::size_t kLanes = SIEVE_LANES;
constexpr std::size_t kPerGroup = kGroup / kLanes;  // vectors in a group of 64
constexpr float kInfinity = __builtin_inff();
constexpr float kLargest = 3.4028234664e38F;

typedef float Vector __attribute__((vector_size(4 * SIEVE_LANES)));
typedef std::int32_t Integers __attribute__((vector_size(4 * SIEVE_LANES)));
typedef std::int8_t Bytes __attribute__((vector_size(SIEVE_LANES)));
typedef float LooseVector __attribute__((vector_size(4 * SIEVE_LANES), aligned(4), may_alias));

inline Vector load(const float* p) { return *reinterpret_cast<const LooseVector*>(p); }
inline void store(float* p, Vector v) { *reinterpret_cast<LooseVector*>(p) = v; }
inline Vector all(float x) { return x - Vector{}; }
inline Vector larger(Vector a, Vector b) { return a > b ? a : b; }
inline Vector smaller(Vector a, Vector b) { return a < b ? a : b; }

/// One value from all: the second half is folded onto the first until one is left.
template <std::size_t N, class Fold>
inline float folded(const float* part, const Fold& fold) {
  if constexpr (N == 1) {
    return part[0];
  } else {
    float halves[N / 2];
    for (std::size_t i = 0; i < N / 2; ++i) {
      halves[i] = fold(part[i], part[N / 2 + i]);
    }
    return folded<N / 2>(halves, fold);
  }
}

template <std::size_t N, class Fold>
inline float folded(const Vector (&parts)[N], const Fold& fold) {
  if constexpr (N == 1) {
    float part[kLanes];
    std::memcpy(part, parts, sizeof part);
    return folded<kLanes>(part, fold);
  } else {
    Vector halves[N / 2];
    for (std::size_t i = 0; i < N / 2; ++i) {
      halves[i] = fold(parts[i], parts[N / 2 + i]);
    }
    return folded(halves, fold);
  }
}

inline float highest(Vector v) {
  const Vector parts[1] = {v};
  return folded(parts, [](auto a, auto b) { return a > b ? a : b; });
}

/// 16 values side by side. What is summed over a row is summed in these, however wide a vector is:
/// value i is added to partial sum i % 16, so that every CPU adds in the same order.
struct Sixteen {
  static constexpr std::size_t kSize = 16, kParts = kSize / kLanes;
  Vector parts[kParts] = {};

  /// Adds f(v) of each vector v of 16 values.
  template <class F>
  void add(const float* x, const F& f) {
    for (std::size_t i = 0; i < kParts; ++i) {
      parts[i] += f(load(x + i * kLanes));
    }
  }
  void add(const Sixteen& other) {
    for (std::size_t i = 0; i < kParts; ++i) {
      parts[i] += other.parts[i];
    }
  }
  float sum() const {
    return folded(parts, [](auto a, auto b) { return a + b; });
  }
};

inline void fill(float* from, const float* to, float value) {
  for (; from < to; ++from) {
    *from = value;
  }
}

inline std::int32_t first_highest(const float* x, std::size_t n) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < n; ++i) {
    best = x[i] > x[best] ? i : best;
  }
  return static_cast<std::int32_t>(best);
}

/// e^x to about one unit in the last place; 0 below −87.
inline Vector exponential(Vector x) {
  constexpr float kMagic = 12582912.0F;  // adding it rounds to whole numbers
  const Vector inside = smaller(larger(x, all(-87.0F)), all(88.0F));
  const Vector shifted = inside * 1.44269504F + kMagic;
  const Vector whole = shifted - kMagic;
  const Vector r = (inside - whole * 0.693145752F) - whole * 1.42860677e-6F;
  Vector p = r * 1.38888889e-3F + 8.33333333e-3F;
  p = p * r + 4.16666667e-2F;
  p = p * r + 1.66666667e-1F;
  p = p * r + 0.5F;
  p = p * r + 1.0F;
  p = p * r + 1.0F;
  const Integers power = __builtin_convertvector(whole, Integers);
  const Vector result = p * reinterpret_cast<Vector>((power + 127) << 23);
  return x < -87.0F ? Vector{} : result;
}
