// Where the inputs of a run come from: `--input NAME=SOURCE` and `--fill`.
//
//   x=a.npy  x=a.pb  x=photo.png  x=raw:a.bin (or any other file: raw bytes)
//   x=random:  x=ones:  x=zeros:  x=iota:   the same with dims: x=ones:1x3x8x8
//
// Made-up inputs need sizes: from the model, from dims in the source, from
// `--shape`, or from another input where the model gives dims one name. Random
// floats lie in [0, 1), random integers in 0..9; equal seeds give equal
// numbers everywhere.
#ifndef EBB_TOOLS_INPUT_SOURCE_H_
#define EBB_TOOLS_INPUT_SOURCE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bytecode/error.h"
#include "bytecode/module.h"
#include "compiler/onnx/import.h"
#include "tools/host_tensor.h"
#include "tools/picture_input.h"

namespace ebb::tools {

struct InputOptions {
  std::vector<std::string> inputs;  // The `--input`s.
  std::string fill;                 // "random", …, or "" for none.
  uint64_t seed = 1;
  std::map<std::string, std::vector<onnx::DimBound>> shapes;  // `--shape`s.
  PictureScale picture;
};

// One entry a parameter of the entry function; nullopt where an input that may
// be left out was. Errors name the input and what it should be.
Expected<std::vector<std::optional<HostTensor>>> MakeInputs(
    const bytecode::Module& module, const InputOptions& options);

// Fills a tensor: "random", "ones", "zeros" or "iota". Random draws from
// `seed` alone.
Expected<HostTensor> MakeUp(const std::string& how, DType dtype,
                            std::vector<int64_t> dims, uint64_t seed);

}  // namespace ebb::tools

#endif  // EBB_TOOLS_INPUT_SOURCE_H_
