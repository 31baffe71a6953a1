// Sentences waiting for threads, and the threads that help the calling one. Knows no weights.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "request.hpp"

namespace sieve {

/// Hands out each sentence once, the longest first.
class Queue {
 public:
  Queue(std::span<const Sentence> sentences, Interrupt& interrupt);

  /// The next sentence, or false at the end; throws Stopped.
  bool next(std::size_t& index);
  /// Hands out no more.
  void close() { next_ = order_.size(); }
  std::size_t size() const { return order_.size(); }
  Interrupt& interrupt() { return interrupt_; }

 private:
  std::vector<std::size_t> order_;
  std::atomic<std::size_t> next_{0};
  Interrupt& interrupt_;
};

/// Further threads that do the same work as the calling one.
class Helpers {
 public:
  /// Starts so many threads that `wanted` work at the queue, the calling one included.
  Helpers(Queue& queue, std::size_t wanted, std::function<void()> work);
  /// Closes the queue and waits.
  ~Helpers();
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;

  /// Returns when all are done, or throws what stopped the first of them; meanwhile the calling
  /// thread looks out for Ctrl-C.
  void wait();

 private:
  void help();

  Queue& queue_;
  std::function<void()> work_;
  std::mutex lock_;
  std::condition_variable ended_;
  std::size_t done_ = 0;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;
};

}  // namespace sieve
