#include "call.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>

namespace sieve {
namespace {

/// Gives each sentence its row.
void share(const Ragged& rows, std::span<const std::int32_t> Sentence::*field,
           std::vector<Sentence>& sentences) {
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    sentences[i].*field = rows.row(i);
  }
}

}  // namespace

void Call::read(Ragged source) {
  source_ = std::move(source);
  source_.check("source", source_.size(), architecture_.src_vocab);
  const std::span<const std::int32_t> end(&architecture_.eos, 1);
  request.sentences.resize(source_.size());
  for (std::size_t i = 0; i < source_.size(); ++i) {
    const auto ids = source_.row(i);
    request.sentences[i].ids = ids.empty() ? end : ids;
  }
}

void Call::select(const nb::dict& selection, const nb::object& prefixes) {
  Selection& wanted = request.selection;
  const std::size_t vocab = architecture_.tgt_vocab, count = request.sentences.size();
  wanted.everything = nb::cast<bool>(selection["everything"]);
  if (!selection["cuts"].is_none()) {
    select_by_head(selection);
  }
  include_ = nb::cast<Ids>(selection["include"]);
  exclude_ = nb::cast<Ids>(selection["exclude"]);
  wanted.include = {include_.data(), include_.shape(0)};
  wanted.exclude = {exclude_.data(), exclude_.shape(0)};
  check_ids("include", wanted.include, vocab);
  check_ids("exclude", wanted.exclude, vocab);
  if (!selection["tokens"].is_none()) {
    tokens_ = ragged(selection["tokens"]);
    tokens_.check("tokens", count, vocab);
    share(tokens_, &Sentence::tokens, request.sentences);
  }
  if (!prefixes.is_none()) {
    prefixes_ = ragged(prefixes);
    prefixes_.check("prefixes", count, vocab);
    share(prefixes_, &Sentence::prefix, request.sentences);
  }
}

void Call::select_by_head(const nb::dict& selection) {
  if (architecture_.head == Architecture::Head::kNone) {
    throw ModelError("this model has no selection head (model.nvs_head is 'none')");
  }
  std::vector<Sentence>& sentences = request.sentences;
  request.selection.neural = true;
  request.selection.least = nb::cast<std::size_t>(selection["least"]);
  cuts_ = nb::cast<Floats>(selection["cuts"]);
  if (cuts_.shape(0) != sentences.size()) {
    throw std::invalid_argument("cuts: expected one for each sentence");
  }
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    sentences[i].cut = cuts_.data()[i];
  }
  if (!selection["candidates"].is_none()) {
    request.selection.among = true;
    candidates_ = ragged(selection["candidates"]);
    candidates_.check("candidates", sentences.size(), architecture_.tgt_vocab);
    share(candidates_, &Sentence::candidates, sentences);
  }
  if (!selection["bonuses"].is_none()) {
    add_bonuses(nb::cast<nb::tuple>(selection["bonuses"]));
  }
}

/// From a pair ((ids, offsets), values).
void Call::add_bonuses(const nb::tuple& given) {
  std::vector<Sentence>& sentences = request.sentences;
  favoured_ = ragged(given[0]);
  bonuses_ = nb::cast<Floats>(given[1]);
  favoured_.check("bonuses", sentences.size(), architecture_.tgt_vocab);
  if (bonuses_.shape(0) != favoured_.ids.shape(0)) {
    throw std::invalid_argument("bonuses: expected a value for each id");
  }
  share(favoured_, &Sentence::favoured, sentences);
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const auto first = static_cast<std::size_t>(favoured_.offsets.data()[i]);
    sentences[i].bonuses = {bonuses_.data() + first, sentences[i].favoured.size()};
  }
}

void Call::search(const nb::dict& options) {
  request.search = options_of(options, architecture_.tgt_vocab);
  set_limits(options);
}

void Call::set_limits(const nb::dict& options) {
  const auto limits = nb::cast<Numbers>(options["limits"]);
  const auto keys = nb::cast<Numbers>(options["keys"]);
  const std::size_t count = request.sentences.size();
  if (limits.shape(0) != count || (keys.shape(0) != count && keys.shape(0) != 0)) {
    throw std::invalid_argument("limits and keys: expected one for each sentence");
  }
  for (std::size_t i = 0; i < count; ++i) {
    Sentence& sentence = request.sentences[i];
    sentence.limit = static_cast<std::size_t>(std::max<std::int64_t>(1, limits.data()[i]));
    sentence.key = keys.shape(0) == 0 ? 0 : static_cast<std::uint32_t>(keys.data()[i]);
  }
}

}  // namespace sieve
