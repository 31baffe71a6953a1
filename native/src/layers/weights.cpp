#include "weights.hpp"

#include <algorithm>
#include <cmath>

namespace sieve {
namespace {

/// Sums of so many products of 127 · 127 fit 32 bits.
constexpr std::size_t kDeepest = std::size_t{1} << 17;

std::string shape_text(const std::vector<std::size_t>& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return text + ")";
}

Tensor find(const Tensors& tensors, const std::string& name, Tensor::Kind kind,
            const std::vector<std::size_t>& shape) {
  const auto found = tensors.find(name);
  if (found == tensors.end()) {
    throw ModelError("lacks tensor " + name);
  }
  const Tensor& tensor = found->second;
  if (tensor.kind != kind) {
    throw ModelError("tensor " + name + " has another type than expected (" +
                     (kind == Tensor::Kind::kFloat ? "float32" : "uint8") + ")");
  }
  if (tensor.shape != shape) {
    throw ModelError("tensor " + name + " has shape " + shape_text(tensor.shape) + ", expected " +
                     shape_text(shape));
  }
  return tensor;
}

const float* find_floats(const Tensors& tensors, const std::string& name,
                         const std::vector<std::size_t>& shape) {
  const Tensor tensor = find(tensors, name, Tensor::Kind::kFloat, shape);
  const auto* data = static_cast<const float*>(tensor.data);
  std::size_t size = 1;
  for (const std::size_t n : shape) {
    size *= n;
  }
  for (std::size_t i = 0; i < size; ++i) {
    if (!std::isfinite(data[i])) {
      throw ModelError("tensor " + name + " holds a value that is no finite number");
    }
  }
  return data;
}

bool is_packed(const Tensor& tensor) { return tensor.shape.size() > 2; }

}  // namespace

bool in_place(const Tensors& tensors) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const auto& each) { return is_packed(each.second); });
}

Matrix Matrix::find(const Tensors& tensors, const std::string& name, std::size_t channels,
                    std::size_t depth, bool int8) {
  Matrix found;
  if (int8) {
    const std::size_t wide = padded(channels), deep = padded(depth);
    if (deep > kDeepest) {
      throw ModelError("tensor " + name + " has " + std::to_string(depth) +
                       " columns, int8 products have room for " + std::to_string(kDeepest));
    }
    const Tensor tensor = sieve::find(tensors, name, Tensor::Kind::kByte,
                                       {wide / kGroup, deep / 4, kGroup, 4});
    const float* scale = find_floats(tensors, name + "_scale", {wide});
    for (std::size_t i = 0; i < wide; ++i) {
      if (scale[i] < 0.0F) {
        throw ModelError("tensor " + name + "_scale holds a value below 0");
      }
    }
    found.weights_.int8 = {static_cast<const std::uint8_t*>(tensor.data), scale, nullptr, channels,
                           depth};
    found.plain_scale_ = scale;
    return found;
  }
  const auto stored = tensors.find(name);
  if (stored != tensors.end() && is_packed(stored->second)) {
    const float* packed =
        find_floats(tensors, name, {padded(channels) / kGroup, depth, kGroup});
    found.weights_.floats = {packed, channels, depth};
    return found;
  }
  const float* data = find_floats(tensors, name, {channels, depth});
  found.packed_ = std::make_shared<Buffer<float>>(padded(channels) * depth);
  float* packed = found.packed_->data();
  for (std::size_t channel = 0; channel < channels; ++channel) {
    float* to = packed + channel / kGroup * kGroup * depth + channel % kGroup;
    for (std::size_t k = 0; k < depth; ++k) {
      to[k * kGroup] = data[channel * depth + k];
    }
  }
  found.weights_.floats = {packed, channels, depth};
  return found;
}

bool Matrix::fix_input(const Tensors& tensors, const std::string& name, const Kernels& kernels) {
  if (!is_int8() || !tensors.contains(name + ".input_multiplier")) {
    return false;
  }
  Int8Matrix& w = weights_.int8;
  multiplier_ = *find_floats(tensors, name + ".input_multiplier", {1});
  if (!(multiplier_ >= 1e-36F && multiplier_ <= 1e36F)) {
    throw ModelError("tensor " + name + ".input_multiplier is not from 1e-36 to 1e36");
  }
  const std::size_t deep = padded(w.depth), wide = padded(w.channels);
  // sums of the rows: products with ones
  Buffer<std::int8_t> ones(deep);
  Buffer<float> scale(wide);
  std::fill(ones.data(), ones.data() + deep, std::int8_t{1});
  std::fill(scale.data(), scale.data() + wide, 1.0F);
  const auto offset = static_cast<std::int32_t>(128 * deep);
  shift_ = std::make_shared<Buffer<float>>(wide);
  kernels.multiply_int8({ones.data(), scale.data(), &offset, 1, deep},
                        {w.data, scale.data(), nullptr, w.channels, w.depth}, shift_->data(), {});
  for (std::size_t i = 0; i < wide; ++i) {
    (*shift_)[i] *= 127.0F;
  }
  w.scale = find_floats(tensors, name + ".product_scale", {wide});
  w.shift = shift_->data();
  return true;
}

void Matrix::row(std::size_t channel, float factor, float* out) const {
  const std::size_t lane = channel % kGroup, first = channel - lane, deep = padded(depth());
  if (is_int8()) {
    const std::uint8_t* from = weights_.int8.data + first * deep + 4 * lane;
    const float scale = plain_scale_[channel] * factor;
    for (std::size_t j = 0; j < deep / 4; ++j) {
      for (std::size_t i = 0; i < 4; ++i) {
        out[4 * j + i] = (static_cast<float>(from[4 * j * kGroup + i]) - 128.0F) * scale;
      }
    }
  } else {
    const float* from = weights_.floats.data + first * depth() + lane;
    for (std::size_t k = 0; k < depth(); ++k) {
      out[k] = from[k * kGroup] * factor;
    }
    std::fill(out + depth(), out + deep, 0.0F);
  }
}

Matrix Matrix::multiplied(const Matrix& other, const Kernels& kernels) const {
  const std::size_t N = channels(), K = other.channels(), wide = padded(K);
  const std::size_t stride = padded(depth());
  Matrix product;
  if (is_int8()) {
    product.bytes_ = std::make_shared<Buffer<std::uint8_t>>(padded(N) * wide);
    std::fill_n(product.bytes_->data(), padded(N) * wide, std::uint8_t{128});
    product.packed_ = std::make_shared<Buffer<float>>(padded(N));  // scales
  } else {
    product.packed_ = std::make_shared<Buffer<float>>(padded(N) * K);
  }
  Buffer<float> rows(kGroup * stride), values(kGroup * wide);
  Buffer<std::int8_t> integers(kGroup * wide);
  Buffer<std::int32_t> offsets(kGroup);
  Activations activations;
  for (std::size_t first = 0; first < N; first += kGroup) {
    const std::size_t count = std::min(kGroup, N - first);
    for (std::size_t i = 0; i < count; ++i) {
      row(first + i, 1.0F, rows.data() + i * stride);
    }
    activations.set(kernels, {rows.data(), count, stride}, {is_int8()});
    activations.multiply(kernels, other.weights(), values.data(), {});
    if (is_int8()) {
      kernels.quantize({values.data(), count, wide}, 0.0F, integers.data(),
                       product.packed_->data() + first, offsets.data());
    }
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t k = 0; k < K; ++k) {
        if (is_int8()) {
          (*product.bytes_)[first * wide + (k / 4 * kGroup + i) * 4 + k % 4] =
              static_cast<std::uint8_t>(integers[i * wide + k] + 128);
        } else {
          (*product.packed_)[first * K + k * kGroup + i] = values[i * wide + k];
        }
      }
    }
  }
  if (is_int8()) {
    product.plain_scale_ = product.packed_->data();
    product.weights_.int8 = {product.bytes_->data(), product.plain_scale_, nullptr, N, K};
  } else {
    product.weights_.floats = {product.packed_->data(), N, K};
  }
  return product;
}

Quads Matrix::quads(std::size_t channel) const {
  const std::size_t length = padded(depth()) / 4, lane = channel % kGroup;
  if (rows_ != nullptr) {
    return {rows_->data() + channel * length, 1};
  }
  const auto* stored = reinterpret_cast<const std::uint32_t*>(weights_.int8.data);
  return {stored + (channel - lane) * length + lane, kGroup};
}

void Matrix::keep_rows() {
  if (!is_int8() || rows_ != nullptr) {
    return;
  }
  const std::size_t length = padded(depth()) / 4;
  auto rows = std::make_shared<Buffer<std::uint32_t>>(channels() * length);
  for (std::size_t channel = 0; channel < channels(); ++channel) {
    const Quads in = quads(channel);
    for (std::size_t j = 0; j < length; ++j) {
      (*rows)[channel * length + j] = in.from[j * in.step];
    }
  }
  rows_ = std::move(rows);
}

Weights Matrix::part(std::size_t first, std::size_t count) const {
  Weights found = weights_;
  const std::size_t channels = std::min(count, this->channels() - first);
  if (is_int8()) {
    found.int8.data += first * padded(found.int8.depth);
    found.int8.scale += first;
    found.int8.shift = found.int8.shift == nullptr ? nullptr : found.int8.shift + first;
    found.int8.channels = channels;
  } else {
    found.floats.data += first * found.floats.depth;
    found.floats.channels = channels;
  }
  return found;
}

Weights Matrix::plain_part(std::size_t first, std::size_t count) const {
  Weights found = part(first, count);
  found.int8.scale = plain_scale_ == nullptr ? nullptr : plain_scale_ + first;
  found.int8.shift = nullptr;
  return found;
}

Linear Linear::find(const Tensors& tensors, const std::string& name, std::size_t channels,
                    std::size_t depth, bool int8, const Kernels& kernels, bool bias) {
  Linear found;
  found.weight = Matrix::find(tensors, name + ".weight", channels, depth, int8);
  if (found.weight.fix_input(tensors, name, kernels)) {
    found.bias = find_vector(tensors, name + ".product_bias", channels);
  } else if (bias) {
    found.bias = find_vector(tensors, name + ".bias", channels);
  }
  return found;
}

Buffer<float> find_vector(const Tensors& tensors, const std::string& name, std::size_t size) {
  const auto found = tensors.find(name);
  const bool wide = found != tensors.end() && found->second.shape.size() == 1 &&
                    found->second.shape[0] == padded(size);
  const std::size_t stored = wide ? padded(size) : size;
  const float* data = find_floats(tensors, name, {stored});
  Buffer<float> values(padded(size));
  std::copy(data, data + size, values.data());
  return values;
}

void Activations::set(const Kernels& kernels, const FloatRows& rows, const Input& input) {
  floats_ = rows;
  input_ = input;
  if (input.int8) {
    values_.grow(rows.rows * rows.stride);
    scale_.grow(rows.rows);
    offset_.grow(rows.rows);
    kernels.quantize(rows, input.multiplier, values_.data(), scale_.data(), offset_.data());
    int8_ = {values_.data(), scale_.data(), offset_.data(), rows.rows, rows.stride};
  }
}

}  // namespace sieve
