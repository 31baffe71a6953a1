// Everything but int8 products and attention, in terms of `vectors.inl`.

// ---- products in fp32

template <std::size_t R>
inline void float_tile(const float* x, std::size_t stride, const float* w, std::size_t depth,
                       Vector (&sums)[R][2]) {
  for (std::size_t k = 0; k < depth; ++k) {
    const Vector first = load(w + k * kGroup), second = load(w + k * kGroup + kLanes);
    for (std::size_t r = 0; r < R; ++r) {
      sums[r][0] += x[r * stride + k] * first;
      sums[r][1] += x[r * stride + k] * second;
    }
  }
}

/// Calls use(row, column, sums) for each tile of R rows and two vectors of columns.
template <std::size_t R, class Use>
inline void float_rows(const FloatRows& x, std::size_t row, const float* group, std::size_t depth,
                       std::size_t column, const Use& use) {
  for (std::size_t c = 0; c < kGroup; c += 2 * kLanes) {
    Vector sums[R][2] = {};
    float_tile<R>(x.values + row * x.stride, x.stride, group + c, depth, sums);
    for (std::size_t r = 0; r < R; ++r) {
      use(row + r, column + c, sums[r][0]);
      use(row + r, column + c + kLanes, sums[r][1]);
    }
  }
}

template <class Use>
inline void float_product(const FloatRows& x, const FloatMatrix& w, const Use& use) {
  for (std::size_t column = 0; column < w.channels; column += kGroup) {
    const float* group = w.data + column * w.depth;
    std::size_t row = 0;
    for (; row + 4 <= x.rows; row += 4) {
      float_rows<4>(x, row, group, w.depth, column, use);
    }
    for (; row < x.rows; ++row) {
      float_rows<1>(x, row, group, w.depth, column, use);
    }
  }
}

struct PiecewiseLinear {
  bool relu;
  Vector operator()(Vector x) const { return relu ? larger(x, Vector{}) : x; }
};
struct Sigmoid {
  float slope;
  Vector operator()(Vector x) const { return x / (1.0F + exponential(x * -slope)); }
};

/// Calls use(function) with the activation as a type: decided once a product.
template <class Use>
inline void activated(const Activation& activation, const Use& use) {
  if (activation.kind == Activation::Kind::kSigmoid) {
    use(Sigmoid{activation.slope});
  } else {
    use(PiecewiseLinear{activation.kind == Activation::Kind::kRelu});
  }
}

template <class Function>
inline void put(float* out, Vector value, const float* bias, bool add, const Function& function) {
  if (bias != nullptr) {
    value += load(bias);
  }
  value = function(value);
  store(out, add ? load(out) + value : value);
}

void multiply_float(const FloatRows& x, const FloatMatrix& w, float* out, Finish finish) {
  const std::size_t stride = padded(w.channels);
  activated(finish.activation, [&](const auto& function) {
    float_product(x, w, [&](std::size_t row, std::size_t column, Vector value) {
      const float* bias = finish.bias == nullptr ? nullptr : finish.bias + column;
      put(out + row * stride + column, value, bias, finish.add, function);
    });
  });
}

void pool_float(const FloatRows& x, const FloatMatrix& w, float* best) {
  fill(best, best + padded(w.channels), -kInfinity);
  float_product(x, w, [&](std::size_t, std::size_t column, Vector value) {
    store(best + column, larger(load(best + column), value));
  });
}

// ---- rows

/// Sum of f(x) over n values, 64 at a time.
template <class F>
inline float sum_of(const float* x, std::size_t n, const F& f) {
  constexpr std::size_t kSize = Sixteen::kSize;
  Sixteen sums[4];
  std::size_t i = 0;
  for (; i + 4 * kSize <= n; i += 4 * kSize) {
    for (std::size_t j = 0; j < 4; ++j) {
      sums[j].add(x + i + j * kSize, f);
    }
  }
  for (; i + kSize <= n; i += kSize) {
    sums[0].add(x + i, f);
  }
  sums[0].add(sums[1]);
  sums[2].add(sums[3]);
  sums[0].add(sums[2]);
  float total = sums[0].sum();
  for (; i < n; ++i) {
    total += f(all(x[i]))[0];
  }
  return total;
}

void layer_norm(const FloatRows& x, const NormWeights& norm, float* out) {
  const std::size_t width = norm.width;
  const float *weight = norm.weight, *bias = norm.bias;
  const std::size_t whole = width / kLanes * kLanes;
  const auto size = static_cast<float>(width);
  for (std::size_t row = 0; row < x.rows; ++row) {
    const float* from = x.values + row * x.stride;
    float* to = out + row * x.stride;
    const float mean = sum_of(from, width, [](Vector v) { return v; }) / size;
    const float variance =
        sum_of(from, width, [mean](Vector v) { return (v - mean) * (v - mean); }) / size;
    const float deviation = __builtin_sqrtf(variance + norm.epsilon);
    for (std::size_t i = 0; i < whole; i += kLanes) {
      store(to + i, (load(from + i) - mean) / deviation * load(weight + i) + load(bias + i));
    }
    for (std::size_t i = whole; i < width; ++i) {
      to[i] = (from[i] - mean) / deviation * weight[i] + bias[i];
    }
    fill(to + width, to + x.stride, 0.0F);
  }
}

void recur(const float* forget, const float* value, const float* before, float* after, float* x,
           std::size_t n) {
  for (std::size_t i = 0; i < n; i += kLanes) {
    const Vector f = 1.0F / (1.0F + exponential(-load(forget + i)));
    const Vector c = f * load(before + i) + (1.0F - f) * load(value + i);
    store(after + i, c);
    store(x + i, load(x + i) + larger(c, Vector{}));
  }
}

float dot(const float* a, const float* b, std::size_t n) {
  Sixteen sums;
  std::size_t i = 0;
  for (; i + Sixteen::kSize <= n; i += Sixteen::kSize) {
    for (std::size_t j = 0; j < Sixteen::kParts; ++j) {
      sums.parts[j] += load(a + i + j * kLanes) * load(b + i + j * kLanes);
    }
  }
  float total = sums.sum();
  for (; i < n; ++i) {
    total += a[i] * b[i];
  }
  return total;
}

void add_scaled(const float* x, float factor, float* out, std::size_t n) {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    store(out + i, load(out + i) + factor * load(x + i));
  }
  for (; i < n; ++i) {
    out[i] += factor * x[i];
  }
}

void softmax(float* x, std::size_t n) {
  constexpr std::size_t kSize = Sixteen::kSize;
  const std::size_t room = (n + kSize - 1) / kSize * kSize;
  fill(x + n, x + room, -kInfinity);
  Vector tops = load(x);
  for (std::size_t i = kLanes; i < room; i += kLanes) {
    tops = larger(tops, load(x + i));
  }
  const float top = highest(tops);
  Sixteen sums;
  for (std::size_t i = 0; i < room; i += kSize) {
    for (std::size_t j = 0; j < Sixteen::kParts; ++j) {
      float* place = x + i + j * kLanes;
      const Vector e = exponential(load(place) - top);
      store(place, e);
      sums.parts[j] += e;
    }
  }
  const float share = 1.0F / sums.sum();
  for (std::size_t i = 0; i < room; i += kLanes) {
    store(x + i, load(x + i) * share);
  }
}

float chunk_maxima(const float* x, std::size_t n, float* maxima) {
  float top = -kInfinity;
  for (std::size_t start = 0; start < n; start += kGroup) {
    Vector tops = load(x + start);
    for (std::size_t i = kLanes; i < kGroup; i += kLanes) {
      tops = larger(tops, load(x + start + i));
    }
    const float best = highest(tops);
    maxima[start / kGroup] = best;
    top = best > top ? best : top;
  }
  return top;
}

float sum_exp(const float* x, std::size_t n, float top) {
  Sixteen sums;
  for (std::size_t i = 0; i < n; i += Sixteen::kSize) {
    sums.add(x + i, [top](Vector v) { return exponential(v - top); });
  }
  return sums.sum();
}

std::uint64_t read_all(const std::uint8_t* data, std::size_t bytes) {
  Integers sums[4] = {};
  constexpr std::size_t kWidth = 4 * kLanes;
  for (std::size_t i = 0; i + 4 * kWidth <= bytes; i += 4 * kWidth) {
    for (std::size_t j = 0; j < 4; ++j) {
      sums[j] ^= reinterpret_cast<Integers>(
          load(reinterpret_cast<const float*>(data + i + j * kWidth)));
    }
  }
  const Integers total = (sums[0] ^ sums[1]) ^ (sums[2] ^ sums[3]);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kLanes; ++i) {
    sum += static_cast<std::uint32_t>(total[i]);
  }
  return sum;
}
