// Conv of the portable kernels against oneDNN's, one thread, on layers of the
// networks that the project is tested with. `plain`: channels first, where the
// oneDNN backend itself takes portable kernels for all but a few shapes;
// `channels_last`: weights packed for oneDNN. What must hold: no ratio so
// high that a whole model takes more than 5 times as long.
#include <benchmark/benchmark.h>

#include <string>

#include "bench/kernel_pair.h"
#include "bytecode/shape_rules/window.h"

namespace ebb::kernels {
namespace {

struct Layer {
  const char* name;
  int64_t channels, size, filters, kernel, stride, group;
};

constexpr Layer kLayers[] = {
    {"resnet_stem", 3, 224, 64, 7, 2, 1},
    {"resnet_3x3_56", 64, 56, 64, 3, 1, 1},
    {"resnet_1x1_56", 256, 56, 64, 1, 1, 1},
    {"resnet_3x3_14", 256, 14, 256, 3, 1, 1},
    {"resnet_3x3_7", 512, 7, 512, 3, 1, 1},
    {"vgg_3x3_112", 128, 112, 128, 3, 1, 1},
    {"densenet_3x3_28", 128, 28, 32, 3, 1, 1},
    {"detector_stem", 3, 640, 16, 3, 2, 1},
    {"detector_1x1_320", 16, 320, 32, 1, 1, 1},
    {"detector_depthwise_320", 32, 320, 32, 3, 1, 32},
    {"detector_depthwise_5x5_s2", 96, 160, 96, 5, 2, 96},
    {"detector_neck_3x3", 96, 160, 24, 3, 1, 1},
    {"detector_neck_9x9", 24, 80, 24, 9, 1, 1},
    {"face_depthwise_16", 24, 16, 24, 3, 1, 24},
};

void BM_Conv(benchmark::State& state, const Layer& layer, bool last) {
  Attributes attributes;
  const int64_t pad = layer.kernel / 2;
  attributes.Set("pads", std::vector<int64_t>(4, pad));
  attributes.Set("strides", std::vector<int64_t>(2, layer.stride));
  attributes.Set("group", layer.group);
  const std::vector<int> order =
      last ? std::vector<int>{0, 2, 3, 1} : std::vector<int>{};
  std::vector<BenchTensor> inputs;
  inputs.push_back(
      MakeBenchTensor({1, layer.channels, layer.size, layer.size}, order));
  inputs.push_back(MakeBenchTensor(
      {layer.filters, layer.channels / layer.group, layer.kernel, layer.kernel},
      {}, true));
  inputs.push_back(MakeBenchTensor({layer.filters}, {}, true));
  const int64_t out = (layer.size + 2 * pad - layer.kernel) / layer.stride + 1;
  const auto products =
      static_cast<double>(layer.filters * layer.channels / layer.group *
                          layer.kernel * layer.kernel * out * out);
  KernelPair pair(OperatorCode::kConv, attributes, std::move(inputs),
                  MakeBenchTensor({1, layer.filters, out, out}, order),
                  2 * products);
  pair.Measure(state);
}

const bool kRegistered = [] {
  for (const bool last : {false, true}) {
    for (const Layer& layer : kLayers) {
      const std::string name = std::string("BM_Conv/") + layer.name +
                               (last ? "/channels_last" : "/plain");
      benchmark::RegisterBenchmark(name.c_str(),
                                   [&layer, last](benchmark::State& state) {
                                     BM_Conv(state, layer, last);
                                   })
          ->UseManualTime()
          ->Unit(benchmark::kMicrosecond);
    }
  }
  return true;
}();

}  // namespace
}  // namespace ebb::kernels
