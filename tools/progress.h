// A progress bar on a terminal; nothing at all anywhere else. It is drawn on
// stderr, so that it never mixes with results, and wiped when it ends.
//
//   Progress progress("compile");
//   options.progress = progress.Steps();
#ifndef EBB_TOOLS_PROGRESS_H_
#define EBB_TOOLS_PROGRESS_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace ebb::tools {

class Progress {
 public:
  explicit Progress(std::string title);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `done` of `total` are behind us, `what` is being done.
  void Show(std::size_t done, std::size_t total, std::string_view what);
  // Ends the bar; other output may follow.
  void Clear();

  // For CompileOptions::progress; valid while this object lives. Empty where
  // nothing would be shown.
  std::function<void(std::string_view, std::size_t, std::size_t)> Steps();

 private:
  std::string title_;
  bool is_terminal_;
  bool shown_ = false;
};

}  // namespace ebb::tools

#endif  // EBB_TOOLS_PROGRESS_H_
