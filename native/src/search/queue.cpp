#include "queue.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <system_error>
#include <utility>

namespace sieve {

Queue::Queue(std::span<const Sentence> sentences, Interrupt& interrupt)
    : order_(sentences.size()), interrupt_(interrupt) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
    return sentences[a].ids.size() > sentences[b].ids.size();
  });
}

bool Queue::next(std::size_t& index) {
  const std::size_t place = next_++;
  if (place >= order_.size()) {
    return false;
  }
  if (interrupt_.stopped()) {
    throw Stopped{};
  }
  index = order_[place];
  return true;
}

Helpers::Helpers(Queue& queue, std::size_t wanted, std::function<void()> work)
    : queue_(queue), work_(std::move(work)) {
  wanted = std::min(wanted, queue.size());
  threads_.reserve(wanted);
  while (threads_.size() + 1 < wanted) {
    try {
      threads_.emplace_back([this] { help(); });
    } catch (const std::system_error&) {
      break;  // the system gives no more threads: those there are do
    }
  }
}

Helpers::~Helpers() {
  queue_.close();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void Helpers::help() {
  std::exception_ptr error;
  try {
    work_();
  } catch (...) {
    queue_.close();
    error = std::current_exception();
  }
  const std::lock_guard<std::mutex> guard(lock_);
  error_ = error_ == nullptr ? error : error_;
  ++done_;
  ended_.notify_all();
}

void Helpers::wait() {
  std::unique_lock<std::mutex> guard(lock_);
  while (done_ < threads_.size()) {
    ended_.wait_for(guard, std::chrono::milliseconds(50));
    guard.unlock();
    if (queue_.interrupt().stopped()) {
      throw Stopped{};
    }
    guard.lock();
  }
  if (error_ != nullptr) {
    std::rethrow_exception(error_);
  }
}

}  // namespace sieve
