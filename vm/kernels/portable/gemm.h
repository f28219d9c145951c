// Blocked matrix product C = A * B over packed panels, for one slice of the
// output at a time: what MatMul, Gemm and convolutions by 1x1 are made of.
//
// A plan is made once per shapes (Prepare) and is immutable; `Run` works in
// the caller's scratch, allocates nothing and may be called by many threads
// with scratch of their own. Blocks of depth are the same for every slice, so
// an element of C is summed in one order however the output was cut.
//
//   GemmPlan<float> plan({.m = m, .n = n, .k = k, …});
//   plan.Run({.a = a, .b = b, .m_end = m, .n_end = n, .c = c, .c_stride = n},
//            scratch);   // plan.scratch_bytes() of it
#ifndef EBB_VM_KERNELS_PORTABLE_GEMM_H_
#define EBB_VM_KERNELS_PORTABLE_GEMM_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bytecode/dtype.h"
#include "vm/kernels/portable/gemm_micro.h"

namespace ebb::kernels {

// Element [i, j] stands at data[i * row_stride + j * column_stride].
struct MatrixView {
  const void* data = nullptr;
  int64_t row_stride = 0;
  int64_t column_stride = 0;
};

// Called for every block of C once it is summed up: the block starts at C's
// element [m, n]. The block may be changed where it stands (a bias), or stored
// elsewhere (narrowed); see GemmSettings::tile_output.
template <class T>
struct GemmFinish {
  void (*run)(const void* context, T* block, int64_t stride, int64_t m,
              int64_t rows, int64_t n, int64_t columns) = nullptr;
  const void* context = nullptr;
};

struct GemmSettings {
  // Largest extent of a slice.
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  DType a_dtype = DType::kF32;
  DType b_dtype = DType::kF32;
  // Strides of the B that will be given; data is not looked at.
  MatrixView b;
  // C is summed up in scratch and only `finish` stores it: for outputs of
  // another type or with gaps.
  bool tile_output = false;
  // Rows of the product that the slices are cut from; 0: m. How sums over k
  // are grouped depends on it and not on m, or else the number of threads
  // would show in the results.
  int64_t whole_m = 0;
};

template <class T>
struct GemmSlice {
  MatrixView a;  // The whole of A and B, not only the slice's part.
  MatrixView b;
  int64_t m_begin = 0, m_end = 0;
  int64_t n_begin = 0, n_end = 0;
  T* c = nullptr;  // The whole of C; columns are dense.
  int64_t c_stride = 0;
  GemmFinish<T> finish;
};

template <class T>
class GemmPlan {
 public:
  explicit GemmPlan(const GemmSettings& settings);

  // Of one worker.
  int64_t scratch_bytes() const { return scratch_bytes_; }
  // What slices are best multiples of.
  int64_t row_grain() const { return kernel_->rows; }
  int64_t column_grain() const { return kernel_->columns; }

  void Run(const GemmSlice<T>& slice, std::byte* scratch) const;

 private:
  enum class Mode : uint8_t {
    kPackB,    // Both sides through packed panels.
    kDirectB,  // Few rows: B is read once, where it stands.
    kDot,      // One or two rows and B stored by columns.
  };
  void RunDot(const GemmSlice<T>& slice, T* scratch) const;
  void RunBlocks(const GemmSlice<T>& slice, T* scratch) const;
  // Rows [m, m + rows) by columns [n, n + columns) for one block of depth.
  struct Block;
  void RunBlock(const GemmSlice<T>& slice, const Block& block, T* a_panels,
                const T* b_panels, T* edge_panel) const;
  const T* PackA(const GemmSlice<T>& slice, const Block& block,
                 T* panels) const;

  GemmSettings settings_;
  const MicroKernel<T>* kernel_ = nullptr;
  Mode mode_ = Mode::kPackB;
  bool a_in_place_ = false;
  int64_t m_block_ = 0, n_block_ = 0, k_block_ = 0;
  int64_t a_elements_ = 0, b_elements_ = 0, tile_elements_ = 0;
  int64_t scratch_bytes_ = 0;
  std::vector<int64_t> offsets_;        // Rows of a packed panel of B.
  std::vector<int64_t> plain_offsets_;  // Rows of B where it stands.
};

// Packs `lanes` x `depth` elements into panels of `width` lanes: panel by
// panel, depth by depth, lane by lane; missing lanes become zero.
template <class T>
void PackPanels(DType dtype, const void* data, int64_t offset,
                int64_t lane_stride, int64_t depth_stride, int64_t lanes,
                int64_t depth, int64_t width, T* panels);

}  // namespace ebb::kernels

#endif  // EBB_VM_KERNELS_PORTABLE_GEMM_H_
