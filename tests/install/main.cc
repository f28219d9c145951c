// The C++ header asks for C++17 only.
#include <cstdio>
#include <ebb/ebb.hpp>

int main() {
  std::puts(ebb_version());
  return 0;
}
