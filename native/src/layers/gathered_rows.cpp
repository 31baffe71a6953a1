#include "gathered_rows.hpp"

#include <algorithm>

namespace sieve {

void GatheredRows::start(const Matrix& from, bool plain) {
  plain_ = plain;
  weights_ = {{nullptr, nullptr, nullptr, 0, from.depth()}, {nullptr, 0, from.depth()}};
}

void GatheredRows::append(const Matrix& from, std::span<const std::int32_t> channels) {
  const std::size_t before = from.is_int8() ? weights_.int8.channels : weights_.floats.channels;
  const std::size_t count = before + channels.size(), wide = padded(count);
  if (from.is_int8()) {
    const Int8Matrix w = (plain_ ? from.plain_part(0, from.channels()) : from.weights()).int8;
    const std::size_t quads = padded(w.depth) / 4;
    bytes_.grow(wide * quads * 4);
    scale_.grow(wide);
    shift_.grow(wide);
    auto* target = reinterpret_cast<std::uint32_t*>(bytes_.data());
    for (std::size_t i = before; i < count; ++i) {
      const auto channel = static_cast<std::size_t>(channels[i - before]);
      const Quads in = from.quads(channel);
      std::uint32_t* out = target + (i - i % kGroup) * quads + i % kGroup;
      for (std::size_t j = 0; j < quads; ++j) {
        out[j * kGroup] = in.from[j * in.step];
      }
      scale_[i] = w.scale[channel];
      shift_[i] = w.shift == nullptr ? 0.0F : w.shift[channel];
    }
    std::fill(scale_.data() + count, scale_.data() + wide, 0.0F);
    const float* shift = w.shift == nullptr ? nullptr : shift_.data();
    weights_.int8 = {bytes_.data(), scale_.data(), shift, count, w.depth};
  } else {
    const FloatMatrix& w = from.weights().floats;
    values_.grow(wide * w.depth);
    const auto place = [&](std::size_t i) {
      return values_.data() + i / kGroup * kGroup * w.depth + i % kGroup;
    };
    for (std::size_t i = before; i < wide; ++i) {
      const bool real = i < count;  // behind the last one, what was gathered before might overflow
      const auto channel = real ? static_cast<std::size_t>(channels[i - before]) : 0;
      const float* in = w.data + channel / kGroup * kGroup * w.depth + channel % kGroup;
      float* out = place(i);
      for (std::size_t k = 0; k < w.depth; ++k) {
        out[k * kGroup] = real ? in[k * kGroup] : 0.0F;
      }
    }
    weights_.floats = {values_.data(), count, w.depth};
  }
}

}  // namespace sieve
