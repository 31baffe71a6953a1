// Rows in int8, and their products with int8 matrices, in exact 32-bit integers, around one
// instruction that the including file gives as `Isa`:
//   Isa::Row            what is prepared once for 4 values of a row
//   Isa::row(p)         prepares them
//   Isa::weights(v)     prepares a vector of stored weights
//   Isa::dot(s, w, a)   s + for each channel the sum of 4 products
//   Isa::kRows, kVectors   size of a tile
//   Isa::kUnsigned      whether dot takes weights as stored (value + 128): the sum is then too
//                       large by the row's offset

constexpr float kMostSteps = 127.0F;

/// Steps of a row: of a fixed size, which is then the matrix's business, or so that its largest
/// value is 127 of them.
struct Steps {
  float multiplier, size;
};

inline Steps steps_of_row(const float* from, std::size_t stride) {
  Vector tops = {}, others = {};  // two chains: neither waits for the other
  for (std::size_t i = 0; i < stride; i += 2 * kLanes) {
    const Vector v = load(from + i), w = load(from + i + kLanes);
    tops = larger(tops, larger(v, -v));
    others = larger(others, larger(w, -w));
  }
  const float top = highest(larger(tops, others));
  const bool usable = top > 1e-36F && top <= kLargest;  // 127 / top is a number
  return {usable ? kMostSteps / top : 0.0F, usable ? top / kMostSteps : top};
}

void quantize(const FloatRows& x, float multiplier, std::int8_t* values, float* scale,
              std::int32_t* offset) {
  constexpr float kMagic = 12582912.0F;  // adding it rounds to whole numbers, half to even
  const std::size_t stride = x.stride;  // here: bytes that are stored could be part of x
  for (std::size_t row = 0; row < x.rows; ++row) {
    const float* from = x.values + row * stride;
    std::int8_t* to = values + row * stride;
    const Steps steps =
        multiplier != 0.0F ? Steps{multiplier, 1.0F} : steps_of_row(from, stride);
    const Vector limit = all(steps.multiplier != 0.0F ? kMostSteps : 0.0F);
    Integers total = {};
    Vector spoilt[1] = {};  // not 0 where a value is no finite number
    for (std::size_t i = 0; i < stride; i += kLanes) {
      const Vector v = load(from + i);
      const Vector shifted = smaller(larger(v * steps.multiplier, -limit), limit) + kMagic;
      const Integers whole = reinterpret_cast<Integers>(shifted) - 0x4B400000;
      total += whole;
      spoilt[0] += v - v;
      const Bytes narrow = __builtin_convertvector(whole, Bytes);
      std::memcpy(to + i, &narrow, sizeof narrow);
    }
    std::int32_t whole_sum = 0;
    for (std::size_t i = 0; i < kLanes; ++i) {
      whole_sum += total[i];
    }
    offset[row] = 128 * whole_sum;
    scale[row] = steps.size + folded(spoilt, [](auto a, auto b) { return a + b; });
  }
}

/// Weights to fetch while others are multiplied: some lines of memory for each step of a tile.
struct Ahead {
  const std::uint8_t* from;
  std::size_t lines;
};
constexpr std::size_t kLine = 64;

inline Integers load_weights(const std::uint8_t* p) {
  return reinterpret_cast<Integers>(load(reinterpret_cast<const float*>(p)));
}

/// Sums of R rows and C vectors of channels; meanwhile fetches weights that are needed later.
template <std::size_t R, std::size_t C>
inline void int8_tile(const std::int8_t* x, std::size_t stride, const std::uint8_t* w,
                      std::size_t quads, const Ahead& ahead, Integers (&sums)[R][C]) {
  for (std::size_t j = 0; j < quads; ++j) {
    for (std::size_t line = 0; line < ahead.lines; ++line) {
      __builtin_prefetch(ahead.from + kLine * (j * ahead.lines + line), 0, 2);
    }
    Integers weights[C];
    for (std::size_t c = 0; c < C; ++c) {
      weights[c] = Isa::weights(load_weights(w + 4 * (j * kGroup + c * kLanes)));
    }
    for (std::size_t r = 0; r < R; ++r) {
      const typename Isa::Row row = Isa::row(x + r * stride + 4 * j);
      for (std::size_t c = 0; c < C; ++c) {
        sums[r][c] = Isa::dot(sums[r][c], weights[c], row);
      }
    }
  }
}

template <std::size_t R, class Use>
inline void int8_rows(const Int8Rows& x, std::size_t row, const std::uint8_t* group,
                      std::size_t column, const Ahead& ahead, const Use& use) {
  constexpr std::size_t C = Isa::kVectors;
  for (std::size_t first = 0; first < kPerGroup; first += C) {
    Integers sums[R][C];
    for (std::size_t r = 0; r < R; ++r) {
      for (std::size_t c = 0; c < C; ++c) {
        sums[r][c] = Integers{} - (Isa::kUnsigned ? x.offset[row + r] : 0);
      }
    }
    int8_tile<R, C>(x.values + row * x.stride, x.stride, group + 4 * first * kLanes, x.stride / 4,
                    ahead, sums);
    for (std::size_t c = 0; c < C; ++c) {
      Vector values[R];
      for (std::size_t r = 0; r < R; ++r) {
        values[r] = __builtin_convertvector(sums[r][c], Vector) * x.scale[row + r];
      }
      use(row, column + (first + c) * kLanes, values);
    }
  }
}

/// Calls use(row, column, values) with the products of some rows from `row` on and a vector of
/// columns from `column` on. Columns in the outer loop: weights come from far away once.
template <class Use>
inline void int8_product(const Int8Rows& x, const Int8Matrix& w, const Use& use) {
  const std::size_t bytes = kGroup * x.stride, tiles = (x.rows + Isa::kRows - 1) / Isa::kRows;
  const std::size_t lines = tiles >= 4 ? 1 : tiles > 1 ? 4 / tiles : 0;
  for (std::size_t column = 0; column < w.channels; column += kGroup) {
    const std::uint8_t* group = w.data + column * x.stride;
    const bool last = column + kGroup >= w.channels;
    std::size_t row = 0;
    for (; row + Isa::kRows <= x.rows; row += Isa::kRows) {
      const std::size_t part = row / Isa::kRows * (x.stride / 4) * lines * kLine;
      const Ahead ahead{group + bytes + part, last || part >= bytes ? 0 : lines};
      int8_rows<Isa::kRows>(x, row, group, column, ahead, use);
    }
    const Ahead none{group, 0};
    switch (x.rows - row) {
      case 1: int8_rows<1>(x, row, group, column, none, use); break;
      case 2: int8_rows<2>(x, row, group, column, none, use); break;
      case 3: int8_rows<3>(x, row, group, column, none, use); break;
      case 4: int8_rows<4>(x, row, group, column, none, use); break;
      case 5: int8_rows<5>(x, row, group, column, none, use); break;
      default: break;
    }
  }
}

/// Stores products: scaled, with a bias, and so on.
template <class Function>
struct Store {
  const Int8Matrix& w;
  float* out;
  Finish finish;
  Function function;

  void operator()(std::size_t row, std::size_t column, const auto& values) const {
    const std::size_t stride = padded(w.channels);
    const Vector scale = load(w.scale + column);
    float* to = out + row * stride + column;
    for (const Vector value : values) {
      put(to, value * scale, finish.bias == nullptr ? nullptr : finish.bias + column, finish.add,
          function);
      to += stride;
    }
  }
};

/// The same for rows with a fixed multiplier: (sum + shift) · scale + bias.
template <class Function>
struct StoreShifted {
  const Int8Matrix& w;
  float* out;
  Finish finish;
  Function function;

  void operator()(std::size_t row, std::size_t column, const auto& values) const {
    const std::size_t stride = padded(w.channels);
    const Vector scale = load(w.scale + column), shift = load(w.shift + column);
    float* to = out + row * stride + column;
    for (const Vector value : values) {
      put(to, (value + shift) * scale, finish.bias == nullptr ? nullptr : finish.bias + column,
          finish.add, function);
      to += stride;
    }
  }
};

/// Calls use(store) with what stores the products with a matrix.
template <class Use>
inline void storing(const Int8Matrix& w, float* out, const Finish& finish, const Use& use) {
  activated(finish.activation, [&]<class Function>(const Function& function) {
    if (w.shift == nullptr) {
      use(Store<Function>{w, out, finish, function});
    } else {
      use(StoreShifted<Function>{w, out, finish, function});
    }
  });
}

/// Keeps the highest product of each channel, not yet scaled by the channel.
struct Highest {
  float* best;

  void operator()(std::size_t, std::size_t column, const auto& values) const {
    Vector top = load(best + column);
    for (const Vector value : values) {
      top = larger(top, value);
    }
    store(best + column, top);
  }
};

inline void scale_all(const Int8Matrix& w, float* best) {
  for (std::size_t i = 0; i < padded(w.channels); i += kLanes) {
    store(best + i, load(best + i) * load(w.scale + i));
  }
}

void multiply_int8(const Int8Rows& x, const Int8Matrix& w, float* out, Finish finish) {
  storing(w, out, finish, [&](const auto& store) { int8_product(x, w, store); });
}

void pool_int8(const Int8Rows& x, const Int8Matrix& w, float* best) {
  fill(best, best + padded(w.channels), -kInfinity);
  int8_product(x, w, Highest{best});
  scale_all(w, best);
}
