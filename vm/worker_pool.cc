#include "vm/worker_pool.h"

#include <sched.h>

#include <algorithm>
#include <limits>
#include <string>

namespace ebb::vm {
namespace {

constexpr uint64_t kJob = uint64_t{1} << 32;
constexpr uint64_t kOpen = uint64_t{1} << 31;
constexpr uint64_t kJoined = kOpen - 1;
// About twenty microseconds: longer than the gap between two operators of a
// run, shorter than anybody would notice.
constexpr int kSpinCount = 1000;
// Pieces a worker comes back for, when slices are many.
constexpr int64_t kPiecesPerWorker = 8;

void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

Expected<std::unique_ptr<WorkerPool>> WorkerPool::Create(int threads) {
  if (threads < 1 || threads > 4096) {
    return Fail(
        ErrorCode::kInvalidArgument,
        "threads: " + std::to_string(threads) + " is outside [1, 4096]");
  }
  std::unique_ptr<WorkerPool> pool(new WorkerPool());
  pool->workers_ = std::vector<Worker>(static_cast<std::size_t>(threads));
  for (std::size_t i = 0; i < pool->workers_.size(); ++i) {
    Worker& worker = pool->workers_[i];
    worker.pool = pool.get();
    worker.index = static_cast<int>(i);
    if (i == 0) continue;
    if (pthread_create(&worker.thread, nullptr, &Main, &worker) != 0) {
      return Fail(ErrorCode::kLimit, "the system started " + std::to_string(i) +
                                         " of " + std::to_string(threads) +
                                         " threads");
    }
    pool->started_ = i;
  }
  return pool;
}

WorkerPool::~WorkerPool() {
  stopping_.store(true, std::memory_order_release);
  bell_.fetch_add(1, std::memory_order_release);
  bell_.notify_all();
  for (std::size_t i = 1; i <= started_; ++i) {
    pthread_join(workers_[i].thread, nullptr);
  }
}

void* WorkerPool::Main(void* worker) {
  auto* self = static_cast<Worker*>(worker);
  self->pool->Serve(*self);
  return nullptr;
}

// Joins a job that is open and not the one already seen. Joining and opening
// go through one word: once the job is closed nobody can come in any more.
bool WorkerPool::Join(uint64_t& seen) {
  uint64_t state = state_.load(std::memory_order_acquire);
  while ((state & kOpen) != 0 && state / kJob != seen) {
    if (state_.compare_exchange_weak(state, state + 1,
                                     std::memory_order_acq_rel,
                                     std::memory_order_acquire)) {
      seen = state / kJob;
      return true;
    }
  }
  return false;
}

void WorkerPool::Serve(Worker& worker) {
  uint64_t seen = 0;
  int spins = 0;
  for (;;) {
    const int bell = bell_.load(std::memory_order_acquire);
    if (stopping_.load(std::memory_order_acquire)) return;
    if (Join(seen)) {
      TakeSlices(worker);
      state_.fetch_sub(1, std::memory_order_release);
      spins = 0;
    } else if (++spins < kSpinCount) {
      Pause();
    } else {
      bell_.wait(bell, std::memory_order_acquire);
      spins = 0;
    }
  }
}

void WorkerPool::TakeSlices(Worker& worker) {
  kernels::RunArgs args = args_;
  args.worker = worker.index;
  for (;;) {
    args.slice_begin = next_slice_.fetch_add(grain_, std::memory_order_relaxed);
    if (args.slice_begin >= slice_count_ ||
        args.slice_begin > lowest_failed_.load(std::memory_order_relaxed)) {
      return;
    }
    args.slice_end = std::min(args.slice_begin + grain_, slice_count_);
    const kernels::RunStatus status = prepared_->Run(args);
    if (status.ok()) continue;
    // The pieces of one worker ascend, so its first failure is its lowest.
    worker.failed_slice = args.slice_begin;
    worker.status = status;
    int64_t lowest = lowest_failed_.load(std::memory_order_relaxed);
    while (args.slice_begin < lowest &&
           !lowest_failed_.compare_exchange_weak(lowest, args.slice_begin,
                                                 std::memory_order_relaxed)) {
    }
    return;
  }
}

kernels::RunStatus WorkerPool::Run(const kernels::Prepared& prepared,
                                   const void* const* inputs,
                                   void* const* outputs, std::byte* scratch) {
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  prepared_ = &prepared;
  args_ = {.inputs = inputs, .outputs = outputs, .scratch = scratch};
  slice_count_ = prepared.slice_count();
  grain_ = std::max<int64_t>(1, slice_count_ / (threads() * kPiecesPerWorker));
  for (Worker& worker : workers_) {
    worker.failed_slice = kNone;
    worker.status = {};
  }
  next_slice_.store(0, std::memory_order_relaxed);
  lowest_failed_.store(kNone, std::memory_order_relaxed);

  const uint64_t job = state_.load(std::memory_order_relaxed) / kJob + 1;
  // Numbers start over after four thousand million jobs; 0 is not used, for a
  // new worker has seen that one.
  const uint64_t number = (job & 0xffffffff) == 0 ? 1 : job & 0xffffffff;
  state_.store(number * kJob | kOpen, std::memory_order_release);
  bell_.fetch_add(1, std::memory_order_release);
  bell_.notify_all();

  TakeSlices(workers_[0]);
  state_.fetch_and(~kOpen, std::memory_order_acq_rel);
  for (int spins = 0;
       (state_.load(std::memory_order_acquire) & kJoined) != 0;) {
    if (++spins < kSpinCount) {
      Pause();
    } else {
      sched_yield();
    }
  }

  const Worker* lowest = &workers_[0];
  for (const Worker& worker : workers_) {
    if (worker.failed_slice < lowest->failed_slice) lowest = &worker;
  }
  return lowest->status;
}

}  // namespace ebb::vm
