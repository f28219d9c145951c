#include "vm/kernels/portable/walk.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "vm/kernels/portable/element.h"

namespace ebb::kernels {
namespace {

// Odometer over the rows of a walk, started anywhere.
class RowCursor {
 public:
  RowCursor(const Walk& walk, int64_t begin) : walk_(walk) {
    for (int d = walk.rank; d-- > 0;) {
      index_[d] = begin % walk.sizes[d];
      begin /= walk.sizes[d];
      offset_ += index_[d] * walk.strides[d];
    }
  }
  int64_t offset() const { return offset_; }
  int64_t left_in_row() const {
    return walk_.rank == 0
               ? 1
               : walk_.sizes[walk_.rank - 1] - index_[walk_.rank - 1];
  }
  // To the start of the next row; past the end it wraps around.
  void NextRow() {
    int d = walk_.rank - 1;
    if (d < 0) return;
    offset_ -= index_[d] * walk_.strides[d];
    index_[d] = 0;
    while (--d >= 0) {
      offset_ += walk_.strides[d];
      if (++index_[d] < walk_.sizes[d]) return;
      offset_ -= index_[d] * walk_.strides[d];
      index_[d] = 0;
    }
  }

 private:
  const Walk& walk_;
  int64_t offset_ = 0;
  std::array<int64_t, kMaxWalkRank> index_;
};

template <class T>
void GatherRun(const T* from, int64_t stride, int64_t n, T* to) {
  if (stride == 1) {
    std::memcpy(to, from, n * sizeof(T));
  } else if (stride == 0) {
    std::fill_n(to, n, *from);
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i * stride];
  }
}

// A row that repeats (a broadcast along the outer dim): the first period is
// copied, the rest doubles what is there. Short rows would else cost a call
// for every few elements.
template <class T>
void GatherRepeated(const T* row, int64_t row_size, int64_t begin, int64_t n,
                    T* to) {
  const int64_t first = begin % row_size;
  const int64_t period = std::min(n, row_size);
  for (int64_t i = 0; i < period; ++i) {
    const int64_t at = first + i;
    to[i] = row[at < row_size ? at : at - row_size];
  }
  for (int64_t done = period; done < n;) {
    const int64_t run = std::min(done, n - done);
    std::memcpy(to + done, to, run * sizeof(T));
    done += run;
  }
}

template <class T>
void ScatterRun(const T* from, int64_t n, T* to, int64_t stride) {
  if (stride == 1) {
    std::memcpy(to, from, n * sizeof(T));
  } else {
    for (int64_t i = 0; i < n; ++i) to[i * stride] = from[i];
  }
}

}  // namespace

int64_t Walk::OffsetOf(int64_t i, int64_t& left) const {
  left = 1;
  int64_t offset = 0;
  for (int d = rank; d-- > 0;) {
    const int64_t at = i % sizes[d];
    i /= sizes[d];
    offset += at * strides[d];
    if (d == rank - 1) left = sizes[d] - at;
  }
  return offset;
}

Walk MakeWalk(std::span<const int64_t> dims, std::span<const int64_t> strides) {
  assert(dims.size() == strides.size() && dims.size() <= kMaxWalkRank);
  Walk walk;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    walk.count *= dims[d];
    if (dims[d] == 1) continue;
    if (walk.rank > 0 && walk.strides[walk.rank - 1] == strides[d] * dims[d]) {
      walk.sizes[walk.rank - 1] *= dims[d];
      walk.strides[walk.rank - 1] = strides[d];
      continue;
    }
    walk.sizes[walk.rank] = dims[d];
    walk.strides[walk.rank] = strides[d];
    ++walk.rank;
  }
  // Nothing is visited; one empty row keeps divisions by sizes out of reach.
  if (walk.count == 0) walk.rank = 0;
  return walk;
}

void GatherElements(const Walk& walk, int element_bytes, const std::byte* base,
                    int64_t begin, int64_t n, std::byte* dense) {
  WithElementType(element_bytes, [&]<class T>(T) {
    const T* from = reinterpret_cast<const T*>(base);
    T* to = reinterpret_cast<T*>(dense);
    if (walk.rank == 2 && walk.strides[0] == 0 && walk.strides[1] == 1) {
      GatherRepeated(from, walk.sizes[1], begin, n, to);
      return;
    }
    RowCursor cursor(walk, begin);
    while (n > 0) {
      const int64_t run = std::min(n, cursor.left_in_row());
      GatherRun(from + cursor.offset(), walk.row_stride(), run, to);
      to += run;
      n -= run;
      cursor.NextRow();
    }
  });
}

void ScatterElements(const Walk& walk, int element_bytes, std::byte* base,
                     int64_t begin, int64_t n, const std::byte* dense) {
  WithElementType(element_bytes, [&]<class T>(T) {
    T* to = reinterpret_cast<T*>(base);
    const T* from = reinterpret_cast<const T*>(dense);
    RowCursor cursor(walk, begin);
    while (n > 0) {
      const int64_t run = std::min(n, cursor.left_in_row());
      ScatterRun(from, run, to + cursor.offset(), walk.row_stride());
      from += run;
      n -= run;
      cursor.NextRow();
    }
  });
}

}  // namespace ebb::kernels
