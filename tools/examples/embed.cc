// Runs a compiled model from C++17: loads the file given, sets every input to
// ones, runs, and prints the outputs and the memory that it took.
//
//   ebb compile model.onnx -o model.ebb && embed_cc model.ebb
#include <cstdio>
#include <cstring>
#include <ebb/ebb.hpp>
#include <string>
#include <vector>

namespace {

// Memory of one input: it must live until the run has returned.
struct Input {
  std::vector<int64_t> dims;
  std::vector<std::byte> data;
};

template <class T>
void Fill(std::vector<std::byte>& data, std::size_t count) {
  data.resize(count * sizeof(T));
  const T one = 1;
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(data.data() + i * sizeof(T), &one, sizeof(T));
  }
}

// Dims that the model leaves open are 1 here.
Input MakeOnes(const ebb_info& info) {
  Input input;
  std::size_t count = 1;
  for (int32_t i = 0; i < info.rank; ++i) {
    input.dims.push_back(info.dims[i] < 0 ? 1 : info.dims[i]);
    count *= static_cast<std::size_t>(input.dims.back());
  }
  switch (info.dtype) {
    case EBB_F32:
      Fill<float>(input.data, count);
      break;
    case EBB_F64:
      Fill<double>(input.data, count);
      break;
    case EBB_I64:
      Fill<int64_t>(input.data, count);
      break;
    case EBB_I32:
      Fill<int32_t>(input.data, count);
      break;
    case EBB_I8:
    case EBB_U8:
    case EBB_BOOL:
      Fill<uint8_t>(input.data, count);
      break;
    default:
      throw ebb::Exception(EBB_UNSUPPORTED, std::string(info.name) +
                                                ": no ones of dtype " +
                                                ebb_dtype_name(info.dtype));
  }
  return input;
}

void Print(const char* name, const ebb::TensorRef& tensor) {
  std::printf("%s: %s[", name, ebb_dtype_name(tensor.dtype()));
  for (std::size_t i = 0; i < tensor.dims().size(); ++i) {
    std::printf("%s%lld", i == 0 ? "" : ",",
                static_cast<long long>(tensor.dims()[i]));
  }
  std::printf("]");
  constexpr std::size_t kShown = 4;
  for (std::size_t i = 0; i < tensor.size() && i < kShown; ++i) {
    if (tensor.dtype() == EBB_F32) {
      std::printf(" %g", static_cast<double>(tensor.data<float>()[i]));
    } else if (tensor.dtype() == EBB_I64) {
      std::printf(" %lld", static_cast<long long>(tensor.data<int64_t>()[i]));
    }
  }
  std::printf(tensor.size() > kShown ? " ...\n" : "\n");
}

void Run(const std::string& path) {
  const ebb::Program program = ebb::Program::Load(path);
  ebb_session_options options{};
  options.threads = 2;
  ebb::Session session(program, options);

  std::vector<Input> inputs(program.input_count());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ebb_info info = program.input(i);
    if (info.is_optional != 0) continue;  // Its default is used.
    inputs[i] = MakeOnes(info);
    ebb_tensor tensor{};
    tensor.dtype = info.dtype;
    tensor.rank = info.rank;
    tensor.dims = inputs[i].dims.data();
    tensor.data = inputs[i].data.data();
    session.SetInput(i, tensor);
  }
  session.Run();
  for (std::size_t i = 0; i < program.output_count(); ++i) {
    Print(program.output(i).name, session.Output(i));
  }
  const ebb_stats stats = session.Stats();
  std::printf("memory peak: %llu bytes, weights: %llu bytes\n",
              static_cast<unsigned long long>(stats.run_live_high_water_bytes),
              static_cast<unsigned long long>(stats.weight_in_place_bytes +
                                              stats.weight_owned_bytes));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: embed MODEL.ebb\n");
    return 2;
  }
  try {
    Run(argv[1]);
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "embed: %s\n", exception.what());
    return 1;
  }
  return 0;
}
