// A file mapped read-only: its bytes are read when they are touched, shared by
// all processes that map it, and can be given back page by page. Move-only;
// the span is valid while the object lives. Safe to share between threads.
#ifndef EBB_BYTECODE_MAPPED_FILE_H_
#define EBB_BYTECODE_MAPPED_FILE_H_

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "bytecode/error.h"

namespace ebb {

class MappedFile {
 public:
  // kNotFound, or kIo with the system's reason; a folder is no file.
  static Expected<MappedFile> Open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept
      : data_(std::exchange(other.data_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  ~MappedFile();

  std::span<const std::byte> bytes() const { return data_; }

  // The whole pages within `part` leave the process's memory; reading them
  // again fetches them from the file.
  void Drop(std::span<const std::byte> part) const;

 private:
  explicit MappedFile(std::span<const std::byte> data) : data_(data) {}
  std::span<const std::byte> data_;
};

}  // namespace ebb

#endif  // EBB_BYTECODE_MAPPED_FILE_H_
