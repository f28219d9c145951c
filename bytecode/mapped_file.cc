#include "bytecode/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace ebb {

Expected<MappedFile> MappedFile::Open(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return Fail(errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
                std::string("cannot open: ") + std::strerror(errno), path);
  }
  struct stat info = {};
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(file);
    return Fail(ErrorCode::kIo, "not a regular file", path);
  }
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size == 0) {
    close(file);
    return MappedFile({});
  }
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  const int reason = errno;
  close(file);  // The mapping keeps the file open.
  if (data == MAP_FAILED) {
    return Fail(ErrorCode::kIo,
                std::string("cannot map: ") + std::strerror(reason), path);
  }
  return MappedFile({static_cast<const std::byte*>(data), size});
}

MappedFile::~MappedFile() {
  if (data_.empty()) return;
  munmap(const_cast<std::byte*>(data_.data()), data_.size());
}

void MappedFile::Drop(std::span<const std::byte> part) const {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(part.data());
  const std::uintptr_t first = (begin + page - 1) / page * page;
  const std::uintptr_t last = (begin + part.size()) / page * page;
  if (first >= last) return;
  // Advice only: where it is refused, the pages merely stay.
  madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace ebb
