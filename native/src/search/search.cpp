#include "search.hpp"

#include <algorithm>
#include <limits>

#include "../kernels/elementary.hpp"

namespace sieve {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

/// A good 32-bit hash (lowbias32).
std::uint32_t mix(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7FEB352DU;
  x = (x ^ (x >> 15)) * 0x846CA68BU;
  return x ^ (x >> 16);
}

/// Standard Gumbel noise that depends on a row's key and a token alone.
float gumbel(std::uint32_t row, std::int32_t id) {
  const std::uint32_t bits = mix(row ^ mix(static_cast<std::uint32_t>(id) * 0x85EBCA6BU));
  const double uniform = (static_cast<double>(bits) + 0.5) / 4294967296.0;
  return static_cast<float>(-logarithm(-logarithm(uniform)));
}

}  // namespace

std::vector<Hypothesis> Search::run(const Sentence& sentence, const SearchOptions& options,
                                    Decoder& decoder, const Shortlist& shortlist, Workspace& work,
                                    Interrupt& interrupt) {
  start(sentence, options, shortlist);
  const std::size_t columns = shortlist.columns();
  float* logits = logits_.grow(options.rows * columns);
  while (!beam_.over()) {
    if (interrupt.stopped()) {
      throw Stopped{};
    }
    const std::size_t rows = beam_.ids().size();
    const float* states = decoder.step(beam_.ids(), beam_.parents(), work);
    shortlist.logits({states, rows, decoder.model().stride()}, work, logits);
    finish_logits(decoder.model().kernels(), rows, columns);
    if (options.sampling) {
      draw(shortlist, logits);
      beam_.advance(drawn_, decoder.focus());
    } else {
      find_candidates(shortlist, logits);
      beam_.advance(candidates_.list(), decoder.focus());
    }
    if (constrained_ && !beam_.over()) {
      constraints_.update(beam_.ids(), beam_.parents());
    }
  }
  return beam_.best();
}

void Search::start(const Sentence& sentence, const SearchOptions& options,
                   const Shortlist& shortlist) {
  options_ = &options;
  key_ = sentence.key;
  beam_.start(sentence, options, shortlist.architecture());
  constrained_ = Constraints::wanted(options, sentence.prefix, shortlist.architecture());
  if (constrained_) {
    constraints_.start(options, sentence.prefix, shortlist);
  }
  maxima_.grow(options.rows * (shortlist.columns() / kGroup));
  log_sums_.resize(options.rows);
}

/// Sums of the logits of `rows` rows, maxima of their chunks, and what constraints forbid.
void Search::finish_logits(const Kernels& kernels, std::size_t rows, std::size_t columns) {
  for (std::size_t r = 0; r < rows; ++r) {
    float* row = logits_.data() + r * columns;
    float* maxima = maxima_.data() + r * (columns / kGroup);
    log_sums_[r] = log_sum(kernels, row, columns, maxima);
    if (constrained_) {
      constraints_.apply(r, row, maxima);
    }
  }
}

void Search::find_candidates(const Shortlist& shortlist, const float* logits) {
  const std::size_t S = shortlist.columns();
  candidates_.start(beam_.most());
  for (std::size_t r = 0; r < beam_.scores().size(); ++r) {
    candidates_.scan({.logits = logits + r * S,
                      .maxima = maxima_.data() + r * (S / kGroup),
                      .columns = S,
                      .log_sum = log_sums_[r],
                      .score = beam_.scores()[r],
                      .parent = static_cast<std::int32_t>(r)});
  }
  for (Candidate& candidate : candidates_.list()) {
    candidate.id = shortlist.id(static_cast<std::size_t>(candidate.id));
  }
}

void Search::draw(const Shortlist& shortlist, const float* logits) {
  const std::size_t S = shortlist.columns(), n = beam_.scores().size();
  drawn_.clear();
  for (std::size_t r = 0; r < n; ++r) {
    const float* row = logits + r * S;
    float least = kNever;
    if (options_->top_k > 0 && options_->top_k < S) {
      const auto rank = static_cast<std::ptrdiff_t>(options_->top_k - 1);
      sorted_.assign(row, row + S);
      std::nth_element(sorted_.begin(), sorted_.begin() + rank, sorted_.end(), std::greater<>());
      least = sorted_[options_->top_k - 1];
    }
    const std::uint32_t sample = mix(key_ ^ mix(static_cast<std::uint32_t>(r) * 0xC2B2AE35U));
    const std::uint32_t noise = mix(sample ^ mix(static_cast<std::uint32_t>(beam_.steps()) * 0x9E3779B1U));
    float best = kNever;
    std::size_t column = 0;
    for (std::size_t c = 0; c < S; ++c) {
      if (row[c] == kNever || row[c] < least) {
        continue;
      }
      const float value = row[c] / options_->temperature + gumbel(noise, shortlist.id(c));
      if (value > best) {
        best = value;
        column = c;
      }
    }
    const float log_prob = row[column] - log_sums_[r];
    drawn_.push_back({beam_.scores()[r] + log_prob, log_prob, static_cast<std::int32_t>(r),
                      shortlist.id(column)});
  }
}

}  // namespace sieve
