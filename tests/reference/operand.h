// What the reference operators are written with: elements by flat index,
// loops over all indices, and one call with its operands.
#ifndef EBB_TESTS_REFERENCE_OPERAND_H_
#define EBB_TESTS_REFERENCE_OPERAND_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "tests/reference/reference.h"

namespace ebb::reference {

// Holds every int64 and uint64 and their sums; products of two uint64 it does
// not.
__extension__ using Wide = __int128;
using Index = std::vector<int64_t>;

Wide GetInt(const ReferenceTensor& tensor, int64_t i);
// Rounds to the dtype.
void SetFloat(ReferenceTensor& tensor, int64_t i, double value);
// Wraps to the dtype; for bool anything but 0 is 1.
void SetInt(ReferenceTensor& tensor, int64_t i, Wide value);
// Copies an element of the same dtype.
void CopyElement(const ReferenceTensor& from, int64_t from_i,
                 ReferenceTensor& to, int64_t to_i);

int64_t Count(const Index& dims);
// Row-major position.
int64_t Flat(const Index& dims, const Index& index);
// Position in a tensor of `dims` that is broadcast to where `index` counts.
int64_t BroadcastFlat(const Index& dims, const Index& index);
// Calls f for every index, in row-major order.
void ForEach(const Index& dims, const std::function<void(const Index&)>& f);

// One run of an operator. Outputs have their dtype and dims, all zero.
struct Call {
  OperatorCode code;
  const Attributes& attributes;
  const std::vector<ReferenceTensor>& inputs;
  std::vector<ReferenceTensor>& outputs;

  const ReferenceTensor& in(std::size_t i) const { return inputs[i]; }
  bool Has(std::size_t i) const {
    return i < inputs.size() && !inputs[i].absent();
  }
  ReferenceTensor& out() const { return outputs[0]; }
  // The integers of a value input.
  Index Ints(std::size_t i) const;
  // An attribute axis, or a listed one, counted from the front.
  int64_t Axis(int64_t axis, std::size_t rank) const {
    return axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
  }
};

// Families, one source file each.
Status RunElementwise(const Call& call);
Status RunProduct(const Call& call);
Status RunWindow(const Call& call);
Status RunNormalization(const Call& call);
Status RunReduction(const Call& call);
Status RunMovement(const Call& call);
Status RunResize(const Call& call);
Status RunMaker(const Call& call);

}  // namespace ebb::reference

#endif  // EBB_TESTS_REFERENCE_OPERAND_H_
