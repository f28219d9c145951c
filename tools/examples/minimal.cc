// The least that runs a model from C++17. README.md shows it.
#include <cstdio>
#include <ebb/ebb.hpp>
#include <vector>

int main(int argc, char** argv) try {
  const std::vector<float> pixels(3 * 640 * 640);
  const auto program = ebb::Program::Load(argc > 1 ? argv[1] : "");
  ebb::Session session(program);
  session.SetInput("x", pixels.data(), {1, 3, 640, 640});
  session.Run();
  const ebb::TensorRef y = session.Output(0);
  std::printf("%g\n", static_cast<double>(y.data<float>()[0]));
  return 0;
} catch (const ebb::Exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
