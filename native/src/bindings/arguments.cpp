#include "arguments.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

namespace sieve {

void check_ids(const std::string& name, std::span<const std::int32_t> ids, std::size_t vocab) {
  for (const std::int32_t id : ids) {
    if (id < 0 || static_cast<std::size_t>(id) >= vocab) {
      throw std::invalid_argument(name + ": got id " + std::to_string(id) + ", expected 0 to " +
                                  std::to_string(vocab - 1));
    }
  }
}

void Ragged::check(const std::string& name, std::size_t rows, std::size_t vocab) const {
  if (offsets.shape(0) == 0 || offsets.shape(0) != rows + 1 || offsets.data()[0] != 0 ||
      offsets.data()[rows] != static_cast<std::int64_t>(ids.shape(0))) {
    throw std::invalid_argument(name + ": offsets do not fit");
  }
  for (std::size_t i = 0; i < rows; ++i) {
    if (offsets.data()[i] > offsets.data()[i + 1] || offsets.data()[i] < 0) {
      throw std::invalid_argument(name + ": offsets must not fall");
    }
  }
  check_ids(name, {ids.data(), ids.shape(0)}, vocab);
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

namespace {

std::vector<std::int32_t> ids_of(const nb::handle& given, const std::string& name,
                                 std::size_t vocab) {
  std::vector<std::int32_t> ids;
  if (!nb::try_cast(given, ids)) {
    throw std::invalid_argument(name + ": expected ids from 0 to " + std::to_string(vocab - 1));
  }
  check_ids(name, ids, vocab);
  return ids;
}

/// The section "model" of a configuration, item by item.
class Settings {
 public:
  explicit Settings(const nb::dict& given) : given_(given) {}

  std::size_t number(const char* name) const {
    std::size_t value = 0;
    if (!nb::try_cast(given_[name], value)) {
      throw ModelError(std::string(name) + " is no number that a dimension can have");
    }
    return value;
  }
  bool is(const char* name, const char* value) const {
    return nb::cast<std::string>(given_[name]) == value;
  }
  bool given(const char* name) const { return !given_[name].is_none(); }
  bool flag(const char* name) const { return nb::cast<bool>(given_[name]); }
  float real(const char* name) const { return nb::cast<float>(given_[name]); }
  std::int32_t id(const char* name) const {
    return given_[name].is_none() ? kNoId : nb::cast<std::int32_t>(given_[name]);
  }
  std::vector<std::int32_t> ids(const char* name, std::size_t vocab) const {
    return ids_of(given_[name], name, vocab);
  }

 private:
  const nb::dict& given_;
};

void set_head(const Settings& settings, Architecture& model) {
  const bool factored = settings.is("nvs_head", "factored");
  const bool tied = factored ? settings.is("nvs_words", "output") : settings.is("nvs_head", "tied");
  model.head = settings.is("nvs_head", "none") ? Architecture::Head::kNone
               : tied                          ? Architecture::Head::kTied
                                               : Architecture::Head::kFull;
  const std::size_t inner = settings.number("nvs_hidden");
  model.head_hidden = inner != 0 ? inner : 2 * model.width;
  if (factored) {
    model.head_rank = settings.number("nvs_rank");
    model.head_looks_twice = settings.given("nvs_slack");
    model.head_slack = model.head_looks_twice ? settings.real("nvs_slack") : 0.0F;
  }
}

void set_sizes(const Settings& settings, Architecture& model) {
  model.src_vocab = settings.number("src_vocab_size");
  model.tgt_vocab = settings.number("tgt_vocab_size");
  model.encoder_layers = settings.number("encoder_layers");
  model.decoder_layers = settings.number("decoder_layers");
  model.width = settings.number("d_model");
  model.hidden = settings.number("d_ff");
  model.heads = settings.number("heads");
  model.recurrent = settings.is("decoder_mixer", "ssru");
  model.tie = settings.is("tie", "all")      ? Architecture::Tie::kAll
              : settings.is("tie", "output") ? Architecture::Tie::kOutput
                                             : Architecture::Tie::kNone;
  set_head(settings, model);
}

void set_variants(const Settings& settings, Architecture& model) {
  constexpr float kGeluSlope = 1.702F;
  model.post_norm = settings.is("norm", "post");
  model.norm_epsilon = settings.real("norm_epsilon");
  const bool relu = settings.is("activation", "relu");
  model.activation = {relu ? Activation::Kind::kRelu : Activation::Kind::kSigmoid,
                      settings.is("activation", "gelu") ? kGeluSlope : 1.0F};
  const bool scaled = settings.flag("embedding_scale");
  model.embedding_factor = scaled ? std::sqrt(static_cast<float>(model.width)) : 1.0F;
  const std::size_t half = model.width / 2;
  const bool shorter = settings.is("position_step", "half_minus_one") && half > 0;
  model.last_frequency = shorter ? half - 1 : half;
  model.position_offset = settings.number("position_offset");
}

}  // namespace

Architecture architecture_of(const nb::dict& config) {
  const Settings settings(config);
  Architecture model;
  set_sizes(settings, model);
  set_variants(settings, model);
  model.start = settings.id("start");
  model.eos = settings.id("eos");
  model.never = settings.ids("never", model.tgt_vocab);
  const auto layer = nb::cast<std::int64_t>(config["alignment_layer"]);
  model.alignment_layer = layer < 0 ? model.decoder_layers - 1 : static_cast<std::size_t>(layer);
  model.alignment_heads.assign(std::min<std::size_t>(model.heads, 1U << 24), 0);
  for (const std::int32_t head : settings.ids("alignment_heads", model.heads)) {
    model.alignment_heads[static_cast<std::size_t>(head)] = 1;
  }
  return model;
}

SearchOptions options_of(const nb::dict& given, std::size_t vocab) {
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
  options.draft_beams = nb::cast<bool>(given["draft_beams"]);
  for (const nb::handle one : nb::cast<nb::list>(given["blocked"])) {
    const auto pair = nb::cast<nb::tuple>(one);
    Blocked blocked{ids_of(pair[0], "blocked", vocab), nb::cast<bool>(pair[1])};
    if (!blocked.tokens.empty()) {
      options.blocked.push_back(std::move(blocked));
    }
  }
  const std::vector<std::int32_t> open_ids = ids_of(given["open_ids"], "open_ids", vocab);
  if (!options.blocked.empty()) {
    options.opens.assign(vocab, 0);
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
