#include "arguments.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <utility>
#include <vector>

namespace sieve {

void check_ids(const std::string& name, std::span<const std::int32_t> ids, std::size_t words) {
  for (const std::int32_t id : ids) {
    if (id < 0 || static_cast<std::size_t>(id) >= words) {
      throw std::invalid_argument(name + ": got id " + std::to_string(id) + ", expected 0 to " +
                                  std::to_string(words - 1));
    }
  }
}

void Ragged::check(const std::string& name, std::size_t rows, std::size_t words) const {
  if (offsets.shape(0) == 0 || offsets.shape(0) != rows + 1 || offsets.data()[0] != 0 ||
      offsets.data()[rows] != static_cast<std::int64_t>(ids.shape(0))) {
    throw std::invalid_argument(name + ": offsets do not fit");
  }
  for (std::size_t i = 0; i < rows; ++i) {
    if (offsets.data()[i] > offsets.data()[i + 1] || offsets.data()[i] < 0) {
      throw std::invalid_argument(name + ": offsets must not fall");
    }
  }
  check_ids(name, {ids.data(), ids.shape(0)}, words);
}

Ragged ragged(const nb::handle& value) {
  const auto pair = nb::cast<nb::tuple>(value);
  return {nb::cast<Ids>(pair[0]), nb::cast<Numbers>(pair[1])};
}

Tensors tensors_of(const nb::dict& arrays) {
  Tensors found;
  for (const auto& [name, value] : arrays) {
    nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu> array;
    // never a copy: nobody would keep it
    if (!nb::try_cast(value, array, false) ||
        reinterpret_cast<std::uintptr_t>(array.data()) % alignof(float) != 0) {
      throw ModelError("tensor " + nb::cast<std::string>(name) +
                       " is no array in one piece, aligned for its type");
    }
    Tensor tensor;
    if (array.dtype() == nb::dtype<float>()) {
      tensor.kind = Tensor::Kind::kFloat;
    } else if (array.dtype() == nb::dtype<std::uint8_t>()) {
      tensor.kind = Tensor::Kind::kByte;
    } else {
      throw ModelError("tensor " + nb::cast<std::string>(name) +
                       " is of no type that this engine reads (float32, uint8)");
    }
    tensor.data = array.data();
    for (std::size_t i = 0; i < array.ndim(); ++i) {
      tensor.shape.push_back(array.shape(i));
    }
    found.emplace(nb::cast<std::string>(name), std::move(tensor));
  }
  return found;
}

Dimensions dimensions_of(const nb::dict& config) {
  const auto number = [&](const char* name) {
    std::size_t value = 0;
    if (!nb::try_cast(config[name], value)) {
      throw ModelError(std::string(name) + " is no number that a dimension can have");
    }
    return value;
  };
  const auto text = [&](const char* name) { return nb::cast<std::string>(config[name]); };
  Dimensions d;
  d.src_words = number("src_vocab_size");
  d.tgt_words = number("tgt_vocab_size");
  d.encoder_layers = number("encoder_layers");
  d.decoder_layers = number("decoder_layers");
  d.width = number("d_model");
  d.hidden = number("d_ff");
  d.heads = number("heads");
  d.recurrent = text("decoder_mixer") == "ssru";
  d.tie = text("tie") == "all"      ? Dimensions::Tie::kAll
          : text("tie") == "output" ? Dimensions::Tie::kOutput
                                    : Dimensions::Tie::kNone;
  d.head = text("nvs_head") == "tied"   ? Dimensions::Head::kTied
           : text("nvs_head") == "full" ? Dimensions::Head::kFull
                                        : Dimensions::Head::kNone;
  d.head_hidden = number("nvs_hidden") != 0 ? number("nvs_hidden") : 2 * d.width;
  return d;
}

namespace {

std::vector<std::int32_t> ids_of(const nb::handle& given, const std::string& name,
                                 std::size_t words) {
  std::vector<std::int32_t> ids;
  if (!nb::try_cast(given, ids)) {
    throw std::invalid_argument(name + ": expected ids from 0 to " + std::to_string(words - 1));
  }
  check_ids(name, ids, words);
  return ids;
}

}  // namespace

SearchOptions options_of(const nb::dict& given, std::size_t words) {
  SearchOptions options;
  options.rows = nb::cast<std::size_t>(given["rows"]);
  options.n_best = nb::cast<std::size_t>(given["n_best"]);
  options.length_penalty = nb::cast<double>(given["length_penalty"]);
  options.stop_first = nb::cast<bool>(given["stop_first"]);
  options.sampling = nb::cast<bool>(given["sampling"]);
  options.temperature = nb::cast<float>(given["temperature"]);
  options.top_k = nb::cast<std::size_t>(given["top_k"]);
  options.alignment = nb::cast<bool>(given["alignment"]);
  options.lossless = nb::cast<bool>(given["lossless"]);
  for (const nb::handle one : nb::cast<nb::list>(given["blocked"])) {
    const auto pair = nb::cast<nb::tuple>(one);
    Blocked blocked{ids_of(pair[0], "blocked", words), nb::cast<bool>(pair[1])};
    if (!blocked.tokens.empty()) {
      options.blocked.push_back(std::move(blocked));
    }
  }
  const std::vector<std::int32_t> open_ids = ids_of(given["open_ids"], "open_ids", words);
  if (!options.blocked.empty()) {
    options.opens.assign(words, 0);
    for (const std::int32_t id : open_ids) {
      options.opens[static_cast<std::size_t>(id)] = 1;
    }
  }
  if (options.rows == 0 || options.n_best == 0 || options.n_best > options.rows) {
    throw std::invalid_argument("search options: expected 1 <= n_best <= rows");
  }
  return options;
}

nb::object float_array(std::unique_ptr<float[]> values, std::size_t rows, std::size_t columns) {
  float* data = values.release();
  const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<float*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, float, nb::ndim<2>>(data, {rows, columns}, owner));
}

}  // namespace sieve
