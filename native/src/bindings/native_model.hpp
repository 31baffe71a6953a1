// A model as Python sees it: arrays in, arrays and tuples out.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../search/engine.hpp"
#include "arguments.hpp"
#include "call.hpp"

namespace sieve {

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
      : engine_(architecture_of(config), tensors_of(tensors), int8,
                kernels.empty() ? default_kernels() : kernels_named(kernels)) {
    if (in_place(tensors_of(tensors))) {
      kept_ = std::move(tensors);  // the weights are read where they lie
    }
  }

  std::string kernels() const { return std::string(engine_.model().kernels().name); }

  Encoded encode(const nb::tuple& source, std::size_t threads) const {
    const Ragged src = ragged(source);
    src.check("source", src.size(), architecture().src_vocab);
    Encoded encoded;
    encoded.model = number_;
    Request request;
    request.threads = threads;
    for (std::size_t i = 0; i < src.size(); ++i) {
      const auto row = src.row(i);
      encoded.ids.emplace_back(row.begin(), row.end());
      if (row.empty()) {
        // a source without tokens reads as its end alone
        encoded.ids.back().push_back(architecture().eos);
      }
    }
    for (const auto& ids : encoded.ids) {
      request.sentences.push_back({.ids = ids, .tokens = {}, .prefix = {}});
    }
    PythonInterrupt interrupt;
    const nb::gil_scoped_release release;
    encoded.memories = engine_.encode(request, interrupt);
    return encoded;
  }

  nb::object pooled_logits(const Encoded& encoded, std::size_t threads, bool last_look) const {
    const std::size_t rows = encoded.ids.size(), vocab = architecture().tgt_vocab;
    auto values = std::make_unique<float[]>(std::max<std::size_t>(1, rows * vocab));
    Request request;
    request.sentences = encoded_sentences(encoded);
    request.threads = threads;
    {
      PythonInterrupt interrupt;
      const nb::gil_scoped_release release;
      engine_.pooled_logits(request, last_look, interrupt, values.get());
    }
    return float_array(std::move(values), rows, vocab);
  }

  /// The states of all positions of all sentences, one behind the other.
  nb::object states(const Encoded& encoded) const {
    const std::size_t stride = engine_.model().stride(), width = architecture().width;
    const std::vector<Sentence> sentences = encoded_sentences(encoded);
    std::size_t rows = 0;
    for (const Sentence& sentence : sentences) {
      rows += sentence.ids.size();
    }
    auto values = std::make_unique<float[]>(std::max<std::size_t>(1, rows * width));
    float* next = values.get();
    for (const Sentence& sentence : sentences) {
      for (std::size_t t = 0; t < sentence.ids.size(); ++t, next += width) {
        std::copy_n(sentence.memory + t * stride, width, next);
      }
    }
    return float_array(std::move(values), rows, width);
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

  nb::list translate(const nb::object& source, const nb::dict& selection, const nb::dict& search,
                     std::size_t threads) const {
    Call call = prepare(source, selection, search["prefixes"]);
    call.search(search);
    call.request.threads = threads;
    std::vector<Result> results;
    {
      PythonInterrupt interrupt;
      const nb::gil_scoped_release release;
      results = engine_.translate(call.request, interrupt);
    }
    return as_python(results);
  }

  nb::list score(const nb::object& source, const nb::dict& selection, const nb::object& targets,
                 std::size_t threads) const {
    Call call = prepare(source, selection, targets);
    call.request.threads = threads;
    std::vector<Result> results;
    {
      PythonInterrupt interrupt;
      const nb::gil_scoped_release release;
      results = engine_.score(call.request, interrupt);
    }
    return as_python(results);
  }

 private:
  const Architecture& architecture() const { return engine_.model().architecture(); }

  std::vector<Sentence> encoded_sentences(const Encoded& encoded) const {
    if (encoded.model != number_) {
      throw std::invalid_argument("these sentences were encoded by another model");
    }
    std::vector<Sentence> sentences;
    for (std::size_t i = 0; i < encoded.ids.size(); ++i) {
      sentences.push_back({.ids = encoded.ids[i], .tokens = {}, .prefix = {}});
      sentences.back().memory = encoded.memories[i].data();
    }
    return sentences;
  }

  Call prepare(const nb::object& source, const nb::dict& selection,
               const nb::object& prefixes) const {
    Call call(architecture());
    if (nb::isinstance<Encoded>(source)) {
      call.request.sentences = encoded_sentences(nb::cast<const Encoded&>(source));
    } else {
      call.read(ragged(source));
    }
    call.select(selection, prefixes);
    return call;
  }

  /// [(number of tokens, times gone back, timings, [(tokens, scores, positions, margin)])]
  static nb::list as_python(const std::vector<Result>& results) {
    nb::list all;
    for (const Result& result : results) {
      nb::list hypotheses;
      for (const Hypothesis& hypothesis : result.hypotheses) {
        hypotheses.append(nb::make_tuple(
            nb::tuple(nb::cast(hypothesis.tokens)), nb::tuple(nb::cast(hypothesis.scores)),
            nb::tuple(nb::cast(hypothesis.positions)), hypothesis.margin));
      }
      const Timing& time = result.timing;
      all.append(nb::make_tuple(
          result.shortlist_size, result.returns,
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

}  // namespace sieve
