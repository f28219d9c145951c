// The runtime from C++17: main VERSION.
#include <cstdio>
#include <cstring>
#include <ebb/ebb.hpp>

int main(int argc, char** argv) {
  if (argc < 2 || std::strcmp(ebb_version(), argv[1]) != 0) {
    std::fprintf(stderr, "this is version %s\n", ebb_version());
    return 1;
  }
  return 0;
}
