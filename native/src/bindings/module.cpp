// What Python sees of the core: arrays in, arrays and tuples out.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../kernels/kernels.hpp"
#include "../search/engine.hpp"
#include "arguments.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace sieve {
namespace {

/// Asks Python now and then whether Ctrl-C was pressed, on the thread that called.
class PythonInterrupt : public Interrupt {
 public:
  bool stopped() override {
    if (stopped_) {
      return true;
    }
    const auto now = std::chrono::steady_clock::now();
    if (std::this_thread::get_id() == owner_ && now - last_ > std::chrono::milliseconds(50)) {
      const nb::gil_scoped_acquire acquire;
      stopped_ = PyErr_CheckSignals() != 0;
      last_ = std::chrono::steady_clock::now();
    }
    return stopped_;
  }

 private:
  std::atomic<bool> stopped_{false};
  std::thread::id owner_ = std::this_thread::get_id();
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// Encoded sentences; states stay here.
struct Encoded {
  Encoded() = default;
  Encoded(Encoded&&) = default;
  Encoded(const Encoded&) = delete;

  std::uint64_t model = 0;  // that encoded them
  std::vector<std::vector<std::int32_t>> ids;
  std::vector<Buffer<float>> memories;
};

class NativeModel {
 public:
  NativeModel(const nb::dict& config, nb::dict tensors, bool int8, const std::string& kernels)
      : engine_(dimensions_of(config), tensors_of(tensors), int8,
                kernels.empty() ? default_kernels() : kernels_named(kernels)) {
    if (int8) {
      kept_ = std::move(tensors);  // the weights are read where they lie
    }
  }

  std::string kernels() const { return std::string(engine_.kernels().name); }

  Encoded encode(const nb::tuple& source, std::size_t threads) const {
    const Ragged src = ragged(source);
    src.check("source", src.size(), dimensions().src_words);
    Encoded encoded;
    encoded.model = number_;
    std::vector<Sentence> sentences;
    for (std::size_t i = 0; i < src.size(); ++i) {
      const auto row = src.row(i);
      encoded.ids.emplace_back(row.begin(), row.end());
      if (row.empty()) {
        encoded.ids.back().push_back(kEos);  // a source without tokens reads as its end alone
      }
    }
    for (const auto& ids : encoded.ids) {
      sentences.push_back({.ids = ids, .words = {}, .prefix = {}});
    }
    released([&](Interrupt& interrupt) {
      encoded.memories = engine_.encode(sentences, threads, interrupt);
    });
    return encoded;
  }

  nb::object pooled_logits(const Encoded& encoded, std::size_t threads) const {
    const std::size_t rows = encoded.ids.size(), words = dimensions().tgt_words;
    auto values = std::make_unique<float[]>(std::max<std::size_t>(1, rows * words));
    const std::vector<Sentence> sentences = encoded_sentences(encoded);
    released([&](Interrupt& interrupt) {
      engine_.pooled_logits(sentences, threads, interrupt, values.get());
    });
    return float_array(std::move(values), rows, words);
  }

  /// Every position of every sentence as a sentence of its own, for what each alone votes for.
  Encoded positions(const Encoded& encoded) const {
    Encoded found;
    found.model = encoded.model;
    const std::size_t stride = engine_.model().stride();
    for (const Sentence& sentence : encoded_sentences(encoded)) {
      for (std::size_t t = 0; t < sentence.ids.size(); ++t) {
        found.ids.push_back({sentence.ids[t]});
        const float* state = sentence.memory + t * stride;
        std::copy(state, state + stride, found.memories.emplace_back(stride).data());
      }
    }
    return found;
  }

  nb::list translate(const nb::object& source, const nb::dict& selection, const nb::dict& options,
                     const Numbers& limits, const Numbers& keys, const nb::object& prefixes,
                     std::size_t threads) const {
    const std::size_t words = dimensions().tgt_words;
    Call call = prepare(source, selection, prefixes);
    const SearchOptions search = options_of(options, words);
    const std::size_t count = call.sentences.size();
    if (limits.shape(0) != count || (keys.shape(0) != count && keys.shape(0) != 0)) {
      throw std::invalid_argument("limits and keys: expected one for each sentence");
    }
    for (std::size_t i = 0; i < count; ++i) {
      call.sentences[i].limit =
          static_cast<std::size_t>(std::max<std::int64_t>(1, limits.data()[i]));
      call.sentences[i].key = keys.shape(0) == 0 ? 0 : static_cast<std::uint32_t>(keys.data()[i]);
    }
    std::vector<Result> results;
    released([&](Interrupt& interrupt) {
      results = engine_.translate(call.sentences, call.selection, search, threads, interrupt);
    });
    return as_python(results);
  }

  nb::list score(const nb::object& source, const nb::dict& selection, const nb::object& targets,
                 std::size_t threads) const {
    const Call call = prepare(source, selection, targets);
    std::vector<Result> results;
    released([&](Interrupt& interrupt) {
      results = engine_.score(call.sentences, call.selection, threads, interrupt);
    });
    return as_python(results);
  }

 private:
  /// One request, and what keeps its arrays alive.
  struct Call {
    Ragged source, words, prefixes;
    Ids include, exclude;
    Selection selection;
    std::vector<Sentence> sentences;
  };

  const Dimensions& dimensions() const { return engine_.model().dimensions(); }

  std::vector<Sentence> encoded_sentences(const Encoded& encoded) const {
    if (encoded.model != number_) {
      throw std::invalid_argument("these sentences were encoded by another model");
    }
    std::vector<Sentence> sentences;
    for (std::size_t i = 0; i < encoded.ids.size(); ++i) {
      sentences.push_back({.ids = encoded.ids[i], .words = {}, .prefix = {}});
      sentences.back().memory = encoded.memories[i].data();
    }
    return sentences;
  }

  Call prepare(const nb::object& source, const nb::dict& selection,
               const nb::object& prefixes) const {
    static constexpr std::int32_t kEnd[] = {kEos};
    Call call;
    if (nb::isinstance<Encoded>(source)) {
      call.sentences = encoded_sentences(nb::cast<const Encoded&>(source));
    } else {
      call.source = ragged(source);
      call.source.check("source", call.source.size(), dimensions().src_words);
      for (std::size_t i = 0; i < call.source.size(); ++i) {
        auto ids = call.source.row(i);
        call.sentences.push_back(
            {.ids = ids.empty() ? std::span<const std::int32_t>(kEnd) : ids, .words = {},
             .prefix = {}});
      }
    }
    const std::size_t words = dimensions().tgt_words, count = call.sentences.size();
    call.selection.everything = nb::cast<bool>(selection["everything"]);
    if (!selection["log_odds"].is_none()) {
      call.selection.neural = true;
      call.selection.log_odds = nb::cast<float>(selection["log_odds"]);
      call.selection.least = nb::cast<std::size_t>(selection["least"]);
      if (dimensions().head == Dimensions::Head::kNone) {
        throw ModelError("this model has no selection head (model.nvs_head is 'none')");
      }
    }
    call.include = nb::cast<Ids>(selection["include"]);
    call.exclude = nb::cast<Ids>(selection["exclude"]);
    call.selection.include = {call.include.data(), call.include.shape(0)};
    call.selection.exclude = {call.exclude.data(), call.exclude.shape(0)};
    check_ids("include", call.selection.include, words);
    check_ids("exclude", call.selection.exclude, words);
    if (!selection["words"].is_none()) {
      call.words = ragged(selection["words"]);
      call.words.check("words", count, words);
      for (std::size_t i = 0; i < count; ++i) {
        call.sentences[i].words = call.words.row(i);
      }
    }
    if (!prefixes.is_none()) {
      call.prefixes = ragged(prefixes);
      call.prefixes.check("prefixes", count, words);
      for (std::size_t i = 0; i < count; ++i) {
        call.sentences[i].prefix = call.prefixes.row(i);
      }
    }
    return call;
  }

  /// Runs without the GIL; Ctrl-C ends it with KeyboardInterrupt.
  template <class Run>
  static void released(const Run& run) {
    try {
      PythonInterrupt interrupt;
      const nb::gil_scoped_release release;
      run(interrupt);
    } catch (...) {
      if (PyErr_Occurred() != nullptr) {  // Ctrl-C, whatever it led to
        throw nb::python_error();
      }
      throw;
    }
  }

  /// [(number of words, times gone back, timings, [(tokens, scores, positions, margin)])]
  static nb::list as_python(const std::vector<Result>& results) {
    nb::list all;
    for (const Result& result : results) {
      nb::list hypotheses;
      for (const Hypothesis& one : result.hypotheses) {
        hypotheses.append(nb::make_tuple(nb::tuple(nb::cast(one.tokens)),
                                         nb::tuple(nb::cast(one.scores)),
                                         nb::tuple(nb::cast(one.positions)), one.margin));
      }
      const Timing& time = result.timing;
      all.append(nb::make_tuple(
          result.words, result.returns,
          nb::make_tuple(time.encode, time.select, time.gather, time.search, time.steps),
          hypotheses));
    }
    return all;
  }

  static std::uint64_t next_number() {
    static std::atomic<std::uint64_t> next{1};
    return next++;
  }

  std::uint64_t number_ = next_number();
  nb::dict kept_;
  Engine engine_;
};

/// Seconds that the fastest of `repeats` readings of so many bytes takes.
double read_seconds(std::size_t bytes, std::size_t repeats, const std::string& name) {
  const Kernels& kernels = name.empty() ? default_kernels() : kernels_named(name);
  Buffer<std::uint8_t> data(bytes);
  double best = std::numeric_limits<double>::infinity();
  volatile std::uint64_t sink = 0;
  const nb::gil_scoped_release release;
  for (std::size_t i = 0; i < repeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    sink = sink + kernels.read(data.data(), bytes);
    const auto end = std::chrono::steady_clock::now();
    best = std::min(best, std::chrono::duration<double>(end - begin).count());
  }
  return best;
}

using Floats = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Packed = nb::ndarray<const std::uint8_t, nb::ndim<4>, nb::c_contig, nb::device::cpu>;

/// The exact integers of quantised rows times a packed matrix, as (rows, channels) floats with all
/// scales one: for tests that compare CPUs.
nb::object int8_product(const Floats& x, const Packed& packed, const std::string& name) {
  const Kernels& kernels = kernels_named(name);
  const std::size_t rows = x.shape(0), depth = x.shape(1), channels = packed.shape(0) * kGroup;
  if (depth % kGroup != 0 || packed.shape(1) != depth / 4 || packed.shape(2) != kGroup ||
      packed.shape(3) != 4) {
    throw std::invalid_argument("int8_product: shapes do not fit");
  }
  Buffer<std::int8_t> values(rows * depth);
  Buffer<float> scale(rows), ones(std::max(rows, channels));
  Buffer<std::int32_t> offset(rows);
  kernels.quantize({x.data(), rows, depth}, values.data(), scale.data(), offset.data());
  std::fill(ones.data(), ones.data() + std::max(rows, channels), 1.0F);
  auto out = std::make_unique<float[]>(std::max<std::size_t>(1, rows * channels));
  kernels.multiply_int8({values.data(), ones.data(), offset.data(), rows, depth},
                        {packed.data(), ones.data(), channels, depth}, out.get(), {});
  return float_array(std::move(out), rows, channels);
}

}  // namespace
}  // namespace sieve

NB_MODULE(_native, m) {
  using namespace sieve;
  m.doc() = "The native core of Sieve.";
  nb::exception<ModelError>(m, "ModelError");
  nb::class_<Encoded>(m, "Encoded", "Encoded sentences.");
  nb::class_<NativeModel>(m, "Model", "A model ready to translate.")
      .def(nb::init<const nb::dict&, nb::dict, bool, const std::string&>(), "config"_a, "tensors"_a,
           "int8"_a, "kernels"_a = "")
      .def_prop_ro("kernels", &NativeModel::kernels)
      .def("encode", &NativeModel::encode, "source"_a, "threads"_a)
      .def("pooled_logits", &NativeModel::pooled_logits, "encoded"_a, "threads"_a)
      .def("positions", &NativeModel::positions, "encoded"_a)
      .def("translate", &NativeModel::translate, "source"_a, "selection"_a, "options"_a,
           "limits"_a, "keys"_a, "prefixes"_a.none(), "threads"_a)
      .def("score", &NativeModel::score, "source"_a, "selection"_a, "targets"_a, "threads"_a);
  m.def(
      "available_kernels",
      [] {
        std::vector<std::string> names;
        for (const Kernels* kernels : available_kernels()) {
          names.emplace_back(kernels->name);
        }
        return names;
      },
      "Names of the kernels this CPU can run, best first.");
  m.def("int8_product", &int8_product, "x"_a, "packed"_a, "kernels"_a,
        "Integers of a quantised product; x (rows, depth), packed as in a model directory.");
  m.def("read_seconds", &read_seconds, "bytes"_a, "repeats"_a, "kernels"_a = "",
        "Seconds to read so many bytes with vector loads.");
}
