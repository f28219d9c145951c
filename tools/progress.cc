#include "tools/progress.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <utility>

#include "tools/exit_code.h"

namespace ebb::tools {
namespace {

constexpr std::size_t kBarWidth = 24;
constexpr std::size_t kTextWidth = 40;

}  // namespace

Progress::Progress(std::string title)
    : title_(std::move(title)), is_terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { Clear(); }

void Progress::Show(std::size_t done, std::size_t total,
                    std::string_view what) {
  if (!is_terminal_) return;
  const std::size_t filled =
      kBarWidth * std::min(done, total) / std::max<std::size_t>(total, 1);
  std::string text = Printable(what);
  text.resize(std::min(text.size(), kTextWidth));
  // Back to the start of the line, draw, erase what is left of the old one.
  std::cerr << "\r" << title_ << " [" << std::string(filled, '#')
            << std::string(kBarWidth - filled, ' ') << "] " << done << "/"
            << total << " " << text << "\x1b[K" << std::flush;
  shown_ = true;
}

void Progress::Clear() {
  if (shown_) std::cerr << "\r\x1b[K" << std::flush;
  shown_ = false;
}

std::function<void(std::string_view, std::size_t, std::size_t)>
Progress::Steps() {
  if (!is_terminal_) return {};
  return [this](std::string_view step, std::size_t index, std::size_t count) {
    Show(index, count, step);
  };
}

}  // namespace ebb::tools
