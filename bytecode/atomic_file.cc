#include "bytecode/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace ebb::bytecode {
namespace {

std::unexpected<Error> IoError(const char* what, const std::string& path) {
  return Fail(ErrorCode::kIo, std::string(what) + ": " + std::strerror(errno),
              path);
}

// A new file next to `path`; the number keeps writers of one file apart.
int Create(const std::string& path, std::string* name) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    *name = path + "." + std::to_string(getpid()) + "-" +
            std::to_string(attempt) + ".tmp";
    const int file =
        open(name->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

Status WriteAll(int file, std::span<const std::byte> bytes,
                const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return IoError("cannot write", path);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

// Something other than a file, such as a terminal or /dev/null, is written to
// in place: it must not be replaced by a file.
bool IsSpecial(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) &&
         !S_ISDIR(info.st_mode);
}

Status WriteInPlace(const std::string& path,
                    const std::function<Status(const Sink&)>& write) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return IoError("cannot open", path);
  Status status = write([&](std::span<const std::byte> bytes) {
    return WriteAll(file, bytes, path);
  });
  close(file);
  return status;
}

}  // namespace

Status WriteFileAtomically(const std::string& path,
                           const std::function<Status(const Sink&)>& write) {
  if (IsSpecial(path)) return WriteInPlace(path, write);
  std::string name;
  const int file = Create(path, &name);
  if (file < 0) return IoError("cannot create", path);
  Status status = write([&](std::span<const std::byte> bytes) {
    return WriteAll(file, bytes, path);
  });
  if (status.has_value() && fsync(file) != 0) {
    status = IoError("cannot write", path);
  }
  if (close(file) != 0 && status.has_value()) {
    status = IoError("cannot write", path);
  }
  if (status.has_value() && std::rename(name.c_str(), path.c_str()) != 0) {
    status = IoError("cannot replace", path);
  }
  if (!status.has_value()) unlink(name.c_str());
  return status;
}

}  // namespace ebb::bytecode
