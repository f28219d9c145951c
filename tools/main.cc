#include <boost/program_options/errors.hpp>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include "tools/commands.h"
#include "tools/exit_code.h"

int main(int argc, char** argv) {
  using ebb::tools::SayError;
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  const std::string where = words.empty() ? "command line" : words[0];
  int code = ebb::tools::kFailed;
  try {
    code = ebb::tools::RunEbb(words);
    std::cout.flush();
  } catch (const boost::program_options::error& error) {
    SayError(where, error.what());
    return ebb::tools::kBadUsage;
  } catch (const std::bad_alloc&) {
    SayError(where, "out of memory");
    return ebb::tools::kFailed;
  } catch (const std::exception& error) {
    SayError(where, error.what());
    return ebb::tools::kFailed;
  }
  // A full disk or a closed pipe: what was printed is not there.
  if (code == ebb::tools::kDone && !std::cout) {
    SayError("standard output", "cannot be written");
    return ebb::tools::kFailed;
  }
  return code;
}
