// The decoder of one sentence, one token at a time, for up to K hypotheses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model.hpp"

namespace sieve {

class Decoder {
 public:
  /// Starts anew with the memory of a sentence, for at most `rows` hypotheses.
  void start(const Model& model, const FloatRows& memory, std::size_t rows, Workspace& work);

  /// Consumes one token for each hypothesis; row r goes on from what row parents[r] was before.
  /// Returns states (ids.size(), stride), valid until the next call.
  const float* step(std::span<const std::int32_t> ids, std::span<const std::int32_t> parents,
                    Workspace& work);

  /// From here on `rewind` can be called.
  void remember() { remembers_ = true; }
  /// Takes steps back: as it was after its first `steps` ones, at least one.
  void rewind(std::size_t steps);

  const Model& model() const { return *model_; }

  /// Source position that the alignment head looked at in the last step, for each row.
  const std::int32_t* focus() const { return focus_.data(); }

 private:
  void look(std::size_t rows);
  void recur(std::size_t index, std::span<const std::int32_t> parents, float* x, Workspace& work);
  void attend_past(std::size_t index, std::size_t rows, float* x, Workspace& work);
  void keep(std::span<const std::int32_t> parents);
  void trace(std::span<const std::int32_t> parents);

  const Model* model_ = nullptr;
  const Kernels* kernels_ = nullptr;
  std::size_t length_ = 0, rows_ = 0, position_ = 0;
  bool remembers_ = false;
  std::vector<Buffer<float>> keys_, keys_values_;  // of the source, for each layer
  std::vector<Buffer<float>> before_, after_;      // cells (rows, stride) of each recurrent layer
  std::vector<Buffer<float>> memories_;            // cells after each step (steps, rows, stride)
  std::vector<std::vector<std::int32_t>> parents_;  // of each step
  std::vector<Buffer<float>> past_;                // keys and values (steps, rows, 2 · width)
  Buffer<std::int32_t> ancestors_, next_ancestors_;  // (steps, rows): whose past row r goes on with
  Buffer<std::int32_t> focus_;
  Buffer<float> gates_, shares_;
  Focus look_;
};

}  // namespace sieve
