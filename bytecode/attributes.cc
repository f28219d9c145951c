#include "bytecode/attributes.h"

#include <algorithm>

namespace ebb {
namespace {

template <class Entries>
auto LowerBound(Entries& entries, std::string_view name) {
  return std::lower_bound(entries.begin(), entries.end(), name,
                          [](const auto& entry, std::string_view key) {
                            return entry.first < key;
                          });
}

template <class T>
const T* Get(const Attributes& attributes, std::string_view name) {
  const AttributeValue* value = attributes.Find(name);
  return value == nullptr ? nullptr : std::get_if<T>(value);
}

template <class T>
std::span<const T> GetList(const Attributes& attributes,
                           std::string_view name) {
  const auto* list = Get<std::vector<T>>(attributes, name);
  return list == nullptr ? std::span<const T>() : std::span<const T>(*list);
}

}  // namespace

void Attributes::Set(std::string_view name, AttributeValue value) {
  const auto at = LowerBound(entries_, name);
  if (at != entries_.end() && at->first == name) {
    at->second = std::move(value);
  } else {
    entries_.emplace(at, std::string(name), std::move(value));
  }
}

void Attributes::Erase(std::string_view name) {
  const auto at = LowerBound(entries_, name);
  if (at != entries_.end() && at->first == name) entries_.erase(at);
}

const AttributeValue* Attributes::Find(std::string_view name) const {
  const auto at = LowerBound(entries_, name);
  return at != entries_.end() && at->first == name ? &at->second : nullptr;
}

int64_t Attributes::Int(std::string_view name, int64_t fallback) const {
  const auto* value = Get<int64_t>(*this, name);
  return value == nullptr ? fallback : *value;
}

float Attributes::Float(std::string_view name, float fallback) const {
  const auto* value = Get<float>(*this, name);
  return value == nullptr ? fallback : *value;
}

std::string_view Attributes::String(std::string_view name,
                                    std::string_view fallback) const {
  const auto* value = Get<std::string>(*this, name);
  return value == nullptr ? fallback : std::string_view(*value);
}

std::span<const int64_t> Attributes::Ints(std::string_view name) const {
  return GetList<int64_t>(*this, name);
}

std::span<const float> Attributes::Floats(std::string_view name) const {
  return GetList<float>(*this, name);
}

std::span<const std::string> Attributes::Strings(std::string_view name) const {
  return GetList<std::string>(*this, name);
}

}  // namespace ebb
