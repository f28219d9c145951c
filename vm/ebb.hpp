// ebb for C++17: ebb.h with owners in place of releases and exceptions in
// place of error returns. Header only; everything that ebb.h says about
// lifetimes, threads and errors holds.
//
//   ebb::Program program = ebb::Program::Load("model.ebb");
//   ebb::Session session(program);
//   session.SetInput("x", pixels.data(), {1, 3, 224, 224});
//   session.Run();
//   ebb::TensorRef y = session.Output(0);
//   const float* scores = y.data<float>();
#ifndef EBB_EBB_HPP_
#define EBB_EBB_HPP_

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vm/ebb.h"

namespace ebb {

// Thrown by every call that fails.
class Exception : public std::exception {
 public:
  // Takes the error over.
  explicit Exception(ebb_error* error)
      : code_(ebb_error_code(error)),
        message_(ebb_error_message(error)),
        where_(ebb_error_where(error)) {
    ebb_error_release(error);
  }
  Exception(ebb_code code, std::string message)
      : code_(code), message_(std::move(message)) {}

  const char* what() const noexcept override { return message_.c_str(); }
  ebb_code code() const { return code_; }
  const std::string& where() const { return where_; }

 private:
  ebb_code code_;
  std::string message_;
  std::string where_;
};

inline void ThrowIfError(ebb_error* error) {
  if (error != nullptr) throw Exception(error);
}

// The dtype of a C++ type; bool and the plain numbers.
template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr int32_t value = EBB_F32;
};
template <>
struct DTypeOf<double> {
  static constexpr int32_t value = EBB_F64;
};
template <>
struct DTypeOf<int8_t> {
  static constexpr int32_t value = EBB_I8;
};
template <>
struct DTypeOf<int16_t> {
  static constexpr int32_t value = EBB_I16;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr int32_t value = EBB_I32;
};
template <>
struct DTypeOf<int64_t> {
  static constexpr int32_t value = EBB_I64;
};
template <>
struct DTypeOf<uint8_t> {
  static constexpr int32_t value = EBB_U8;
};
template <>
struct DTypeOf<uint16_t> {
  static constexpr int32_t value = EBB_U16;
};
template <>
struct DTypeOf<uint32_t> {
  static constexpr int32_t value = EBB_U32;
};
template <>
struct DTypeOf<uint64_t> {
  static constexpr int32_t value = EBB_U64;
};
template <>
struct DTypeOf<bool> {
  static constexpr int32_t value = EBB_BOOL;
};

// A description of somebody else's memory; copies nothing but the dims.
class TensorRef {
 public:
  explicit TensorRef(const ebb_tensor& tensor)
      : dtype_(tensor.dtype),
        dims_(tensor.dims, tensor.dims + tensor.rank),
        data_(tensor.data),
        byte_size_(tensor.byte_size) {
    if (tensor.strides != nullptr) {
      strides_.assign(tensor.strides, tensor.strides + tensor.rank);
    }
  }

  int32_t dtype() const { return dtype_; }
  const std::vector<int64_t>& dims() const { return dims_; }
  // Empty for a dense tensor, which all but external functions' are.
  const std::vector<int64_t>& strides() const { return strides_; }
  std::size_t byte_size() const { return byte_size_; }
  void* data() const { return data_; }
  std::size_t size() const {
    std::size_t count = 1;
    for (const int64_t dim : dims_) count *= static_cast<std::size_t>(dim);
    return count;
  }
  // Throws when the elements are of another type.
  template <class T>
  T* data() const {
    if (DTypeOf<T>::value != dtype_) {
      throw Exception(EBB_SHAPE_MISMATCH,
                      std::string("the tensor is ") + ebb_dtype_name(dtype_) +
                          ", not " + ebb_dtype_name(DTypeOf<T>::value));
    }
    return static_cast<T*>(data_);
  }

 private:
  int32_t dtype_;
  std::vector<int64_t> dims_;
  std::vector<int64_t> strides_;
  void* data_;
  std::size_t byte_size_;
};

// A value that was taken out of a session. Move-only.
class Value {
 public:
  explicit Value(ebb_value* value) : value_(value) {}

  ebb_value* get() const { return value_.get(); }
  ebb_value* release() { return value_.release(); }
  int32_t kind() const { return ebb_value_kind(get()); }
  std::size_t size() const { return ebb_value_count(get()); }
  TensorRef tensor() const {
    ebb_tensor tensor{};
    ThrowIfError(ebb_value_tensor(get(), &tensor));
    return TensorRef(tensor);
  }

 private:
  struct Release {
    void operator()(ebb_value* value) const { ebb_value_release(value); }
  };
  std::unique_ptr<ebb_value, Release> value_;
};

// What an external function is called with; see the ebb_call functions.
class Call {
 public:
  explicit Call(ebb_call* call) : call_(call) {}

  std::size_t argument_count() const { return ebb_call_argument_count(call_); }
  std::size_t int_count() const { return ebb_call_int_count(call_); }
  std::size_t result_count() const { return ebb_call_result_count(call_); }
  int64_t integer(std::size_t index) const {
    return ebb_call_int(call_, index);
  }
  TensorRef tensor(std::size_t index, bool* is_writable = nullptr) const {
    ebb_tensor tensor{};
    int32_t writable = 0;
    ThrowIfError(ebb_call_tensor(call_, index, &tensor, &writable));
    if (is_writable != nullptr) *is_writable = writable != 0;
    return TensorRef(tensor);
  }
  void* MakeTensor(std::size_t index, int32_t dtype,
                   const std::vector<int64_t>& dims) {
    void* data = nullptr;
    ThrowIfError(ebb_call_make_tensor(call_, index, dtype,
                                      static_cast<int32_t>(dims.size()),
                                      dims.data(), &data));
    return data;
  }
  void ShareArgument(std::size_t index, std::size_t argument) {
    ThrowIfError(ebb_call_share_argument(call_, index, argument));
  }
  ebb_call* get() const { return call_; }

 private:
  ebb_call* call_;
};

// An external function. It may throw ebb::Exception, or any other exception
// derived from std::exception: the run ends with its message.
using Function = std::function<void(Call&)>;

class Program {
 public:
  // For load options beyond names and functions use the C interface and the
  // constructor below.
  using Externals = std::vector<std::pair<std::string, Function>>;

  // Takes one reference over.
  explicit Program(ebb_program* program) : program_(program, Release{}) {}

  static Program Load(const std::string& path, Externals externals = {}) {
    return Make(std::move(externals), false,
                [&](const ebb_load_options* o, ebb_program** program) {
                  return ebb_program_load_file(path.c_str(), o, program);
                });
  }
  // The bytes are copied.
  static Program LoadBytes(const void* bytes, std::size_t size,
                           Externals externals = {}) {
    return Make(std::move(externals), true,
                [&](const ebb_load_options* o, ebb_program** program) {
                  return ebb_program_load_bytes(bytes, size, o, program);
                });
  }

  ebb_program* get() const { return program_.get(); }
  std::size_t input_count() const { return ebb_program_input_count(get()); }
  std::size_t output_count() const { return ebb_program_output_count(get()); }
  // Pointers in it are valid as long as the program.
  ebb_info input(std::size_t index) const {
    ebb_info info{};
    info.struct_size = sizeof(info);
    ThrowIfError(ebb_program_input_info(get(), index, &info));
    return info;
  }
  ebb_info output(std::size_t index) const {
    ebb_info info{};
    info.struct_size = sizeof(info);
    ThrowIfError(ebb_program_output_info(get(), index, &info));
    return info;
  }

  // The functions of a program; they live as long as its last session.
  const std::shared_ptr<Externals>& externals() const { return externals_; }

 private:
  struct Release {
    void operator()(ebb_program* program) const {
      ebb_program_release(program);
    }
  };

  static ebb_error* Invoke(void* user, ebb_call* call) {
    try {
      Call wrapped(call);
      (*static_cast<Function*>(user))(wrapped);
      return nullptr;
    } catch (const Exception& exception) {
      return ebb_error_create(exception.code(), exception.what());
    } catch (const std::exception& exception) {
      return ebb_error_create(EBB_INVALID_ARGUMENT, exception.what());
    }
  }

  template <class Loader>
  static Program Make(Externals externals, bool copy, Loader&& loader) {
    auto kept = std::make_shared<Externals>(std::move(externals));
    std::vector<ebb_external> list;
    for (auto& [name, function] : *kept) {
      list.push_back({name.c_str(), &Invoke, &function});
    }
    ebb_load_options options{};
    options.struct_size = sizeof(options);
    options.externals = list.data();
    options.external_count = list.size();
    options.copy_bytes = copy ? 1 : 0;
    ebb_program* made = nullptr;
    ThrowIfError(loader(&options, &made));
    Program program(made);
    program.externals_ = std::move(kept);
    return program;
  }

  std::shared_ptr<Externals> externals_;
  std::shared_ptr<ebb_program> program_;
};

// One thread at a time; Cancel from any. Move-only.
class Session {
 public:
  // `options` as in ebb.h; struct_size is set here.
  explicit Session(const Program& program, ebb_session_options options = {})
      : externals_(program.externals()) {
    options.struct_size = sizeof(options);
    ebb_session* session = nullptr;
    ThrowIfError(ebb_session_create(program.get(), &options, &session));
    session_.reset(session);
  }

  void SetInput(std::size_t index, const ebb_tensor& tensor) {
    ThrowIfError(ebb_session_set_input(get(), index, &tensor));
  }
  void SetInput(const std::string& name, const ebb_tensor& tensor) {
    ThrowIfError(ebb_session_set_input_by_name(get(), name.c_str(), &tensor));
  }
  // Dense elements, which stay the caller's and are used in place.
  template <class T, class Key>
  void SetInput(const Key& key, const T* data,
                const std::vector<int64_t>& dims) {
    ebb_tensor tensor{};
    tensor.dtype = DTypeOf<T>::value;
    tensor.rank = static_cast<int32_t>(dims.size());
    tensor.dims = dims.data();
    tensor.data = const_cast<T*>(data);
    SetInput(key, tensor);
  }
  void SetInput(std::size_t index, const Value& value) {
    ThrowIfError(ebb_session_set_input_value(get(), index, value.get()));
  }
  void DonateInput(std::size_t index, Value value) {
    ThrowIfError(ebb_session_donate_input(get(), index, value.release()));
  }
  void BindOutput(std::size_t index, void* data, std::size_t byte_size) {
    ThrowIfError(ebb_session_bind_output(get(), index, data, byte_size));
  }
  void UnbindOutput(std::size_t index) {
    ThrowIfError(ebb_session_unbind_output(get(), index));
  }

  void Run() { ThrowIfError(ebb_session_run(get())); }
  void Cancel() { ebb_session_cancel(get()); }

  // Valid until the next run or the end of the session.
  TensorRef Output(std::size_t index) const {
    ebb_tensor tensor{};
    ThrowIfError(ebb_session_output(get(), index, &tensor));
    return TensorRef(tensor);
  }
  TensorRef Output(const std::string& name) const {
    ebb_tensor tensor{};
    ThrowIfError(ebb_session_output_by_name(get(), name.c_str(), &tensor));
    return TensorRef(tensor);
  }
  Value TakeOutput(std::size_t index) {
    ebb_value* value = nullptr;
    ThrowIfError(ebb_session_take_output(get(), index, &value));
    return Value(value);
  }
  Value MakeTensor(const ebb_tensor& tensor) {
    ebb_value* value = nullptr;
    ThrowIfError(ebb_value_create_tensor(get(), &tensor, &value));
    return Value(value);
  }
  Value Item(const Value& value, std::size_t index) {
    ebb_value* item = nullptr;
    ThrowIfError(ebb_value_item(get(), value.get(), index, &item));
    return Value(item);
  }

  ebb_stats Stats() const {
    ebb_stats stats{};
    stats.struct_size = sizeof(stats);
    ThrowIfError(ebb_session_stats(get(), &stats));
    return stats;
  }
  void Trim() { ebb_session_trim(get()); }
  void ResetHighWater() { ebb_session_reset_high_water(get()); }
  ebb_session* get() const { return session_.get(); }

 private:
  struct Release {
    void operator()(ebb_session* session) const {
      ebb_session_release(session);
    }
  };

  std::shared_ptr<Program::Externals> externals_;
  std::unique_ptr<ebb_session, Release> session_;
};

}  // namespace ebb

#endif  // EBB_EBB_HPP_
