// Random tables of a module, for the program generator: constants of every
// kind, sites with attributes, and rows that are odd or there twice.
#ifndef EBB_TESTS_BYTECODE_TABLE_GENERATOR_H_
#define EBB_TESTS_BYTECODE_TABLE_GENERATOR_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "bytecode/module_builder.h"

namespace ebb::bytecode {

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  // 0 … count - 1. Not a std distribution: those differ between libraries.
  int Below(std::size_t count) {
    return static_cast<int>(engine_() % static_cast<uint32_t>(count));
  }
  bool Chance(int percent) { return Below(100) < percent; }
  uint64_t Bits() { return (uint64_t{engine_()} << 32) | engine_(); }
  // All magnitudes alike, so that every length of encoding comes up.
  int64_t Number() { return static_cast<int64_t>(Bits() >> 1) >> Below(63); }

 private:
  std::mt19937 engine_;
};

void AddConstants(ModuleBuilder& module, Random& random, int count);
std::vector<SiteId> AddSites(ModuleBuilder& module, Random& random, int count);
void AddOddTables(ModuleBuilder& module, Random& random);

}  // namespace ebb::bytecode

#endif  // EBB_TESTS_BYTECODE_TABLE_GENERATOR_H_
