// Attention of rows of queries to one sequence, in terms of `vectors.inl` and `floats.inl`.

/// Scores of R queries against keys (width, room): two vectors of positions at a time.
template <std::size_t R>
inline void score(const float* q, std::size_t stride, const float* keys, const KeysValues& past,
                  float factor, float* scores) {
  const std::size_t room = padded(past.length);
  for (std::size_t t = 0; t < past.length; t += 2 * kLanes) {
    Vector sums[R][2] = {};
    for (std::size_t d = 0; d < past.width; ++d) {
      const Vector first = load(keys + d * room + t), second = load(keys + d * room + t + kLanes);
      for (std::size_t r = 0; r < R; ++r) {
        sums[r][0] += q[r * stride + d] * first;
        sums[r][1] += q[r * stride + d] * second;
      }
    }
    for (std::size_t r = 0; r < R; ++r) {
      store(scores + r * room + t, sums[r][0] * factor);
      store(scores + r * room + t + kLanes, sums[r][1] * factor);
    }
  }
}

/// R weighted sums of rows of values.
template <std::size_t R>
inline void weigh(const float* shares, std::size_t room, const float* values,
                  const KeysValues& past, float* out, std::size_t stride) {
  for (std::size_t d = 0; d < past.width; d += kLanes) {
    Vector sums[R] = {};
    for (std::size_t t = 0; t < past.length; ++t) {
      const Vector v = load(values + t * past.value_stride + d);
      for (std::size_t r = 0; r < R; ++r) {
        sums[r] += shares[r * room + t] * v;
      }
    }
    const std::size_t count = past.width - d < kLanes ? past.width - d : kLanes;
    for (std::size_t r = 0; r < R; ++r) {
      std::memcpy(out + r * stride + d, &sums[r], count * sizeof(float));
    }
  }
}

template <std::size_t R>
inline void attend_rows(const FloatRows& queries, std::size_t row, const KeysValues& past,
                        float* scores, float* out, std::size_t out_stride,
                        const Focus& focus) {
  const std::size_t room = padded(past.length);
  const float factor = 1.0F / __builtin_sqrtf(static_cast<float>(past.width));
  const bool asked = focus.positions != nullptr, several = asked && focus.heads != nullptr;
  const bool only = asked && !several;
  if (several) {
    fill(focus.sums, focus.sums + R * room, 0.0F);
  }
  for (std::size_t h = 0; h < past.heads; ++h) {
    const std::size_t place = h * past.width;
    score<R>(queries.values + row * queries.stride + place, queries.stride,
             past.keys + place * room, past, factor, scores);
    for (std::size_t r = 0; r < R; ++r) {
      float* mine = scores + r * room;
      if (only && h == focus.head) {
        focus.positions[row + r] = first_highest(mine, past.length);
      }
      softmax(mine, past.length);
      if (several && focus.heads[h] != 0) {
        add_scaled(mine, 1.0F, focus.sums + r * room, past.length);
      }
    }
    weigh<R>(scores, room, past.values + place, past, out + row * out_stride + place, out_stride);
  }
  for (std::size_t r = 0; several && r < R; ++r) {
    focus.positions[row + r] = first_highest(focus.sums + r * room, past.length);
  }
}

void attend(const FloatRows& queries, const KeysValues& past, float* scores, float* out,
            std::size_t out_stride, const Focus& focus) {
  std::size_t row = 0;
  for (; row + 5 <= queries.rows; row += 5) {
    attend_rows<5>(queries, row, past, scores, out, out_stride, focus);
  }
  for (; row + 2 <= queries.rows; row += 2) {
    attend_rows<2>(queries, row, past, scores, out, out_stride, focus);
  }
  for (; row < queries.rows; ++row) {
    attend_rows<1>(queries, row, past, scores, out, out_stride, focus);
  }
}
