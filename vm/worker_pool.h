// Shares the slices of one kernel run among threads. The calling thread is
// worker 0 and does its part; the others spin for a few microseconds after a
// run and then sleep. Slices are handed out in ascending order, a few at a
// time, to whoever asks, so a slow or sleeping worker holds nobody up.
//
// The error of the lowest failing slice is returned: slices below a failing
// one have been handed out before it and are finished, those above may be
// left out. So the error does not depend on the number of threads.
//
// One caller at a time. Takes no locks.
//
//   TRY(auto workers, WorkerPool::Create(4));   // starts 3 threads
//   kernels::RunStatus status = workers->Run(prepared, in, out, scratch);
#ifndef EBB_VM_WORKER_POOL_H_
#define EBB_VM_WORKER_POOL_H_

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bytecode/error.h"
#include "vm/kernels/kernel.h"

namespace ebb::vm {

class WorkerPool {
 public:
  // `threads` counts the calling one; at least 1. Fails with kLimit when the
  // system refuses to start so many.
  static Expected<std::unique_ptr<WorkerPool>> Create(int threads);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()); }

  kernels::RunStatus Run(const kernels::Prepared& prepared,
                         const void* const* inputs, void* const* outputs,
                         std::byte* scratch);

 private:
  // What a worker found, on a cache line of its own.
  struct alignas(64) Worker {
    WorkerPool* pool = nullptr;
    int index = 0;
    pthread_t thread{};
    int64_t failed_slice = 0;
    kernels::RunStatus status;
  };

  WorkerPool() = default;
  static void* Main(void* worker);
  void Serve(Worker& worker);
  bool Join(uint64_t& seen);
  void TakeSlices(Worker& worker);

  std::vector<Worker> workers_;
  std::size_t started_ = 0;

  // The job; written only while no worker has joined.
  const kernels::Prepared* prepared_ = nullptr;
  kernels::RunArgs args_{};
  int64_t slice_count_ = 0;
  int64_t grain_ = 1;

  // The job's number << 32, whether it may be joined, how many have joined.
  alignas(64) std::atomic<uint64_t> state_ = 0;
  alignas(64) std::atomic<int64_t> next_slice_ = 0;
  std::atomic<int64_t> lowest_failed_ = 0;
  // Counts jobs, for sleeping on.
  alignas(64) std::atomic<int> bell_ = 0;
  std::atomic<bool> stopping_ = false;
};

}  // namespace ebb::vm

#endif  // EBB_VM_WORKER_POOL_H_
