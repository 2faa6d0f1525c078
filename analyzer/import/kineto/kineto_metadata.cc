// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/kineto/kineto_metadata.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "analyzer/import/source/decimal.h"
#include "analyzer/import/source/json_pieces.h"

namespace traceinject {
namespace {

namespace ondemand = simdjson::ondemand;

std::string_view Trimmed(std::string_view token) {
  const std::size_t last = token.find_last_not_of(" \t\r\n,");
  return last == std::string_view::npos ? std::string_view{} : token.substr(0, last + 1);
}

std::optional<std::int64_t> IntegerOf(ondemand::value& value) {
  return ParseDecimal(Trimmed(value.raw_json_token()));
}

std::optional<int> SmallInteger(ondemand::value& value) {
  const auto number = IntegerOf(value);
  if (!number || *number < 0 || *number > std::numeric_limits<int>::max()) return std::nullopt;
  return static_cast<int>(*number);
}

// Calls visit(key, value) for each member. False: not a valid object.
template <typename Visit>
bool ForEachMember(ondemand::object object, Visit visit) {
  for (auto each : object) {
    ondemand::field field;
    std::string_view key;
    if (std::move(each).get(field) != simdjson::SUCCESS) return false;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) return false;
    if (!visit(key, field.value())) return false;
  }
  return true;
}

bool DeviceField(std::string_view key, ondemand::value& value, Device& device) {
  if (key == "id") device.ordinal = SmallInteger(value).value_or(-1);
  if (key == "totalGlobalMem") device.memory_bytes = IntegerOf(value);
  if (key == "computeMajor") device.cc_major = SmallInteger(value);
  if (key == "computeMinor") device.cc_minor = SmallInteger(value);
  if (key == "numSms") device.sm_count = SmallInteger(value);
  if (key != "name") return true;
  std::string_view name;
  if (value.get_string().get(name) != simdjson::SUCCESS) return false;
  device.name = name;
  return true;
}

bool Devices(ondemand::document& document, Rank& rank) {
  ondemand::array list;
  if (document.get_array().get(list) != simdjson::SUCCESS) return false;
  for (auto element : list) {
    ondemand::object object;
    if (element.get_object().get(object) != simdjson::SUCCESS) return false;
    Device device;
    device.ordinal = -1;
    if (!ForEachMember(object, [&](std::string_view key, ondemand::value& value) {
          return DeviceField(key, value, device);
        }))
      return false;
    if (device.ordinal < 0 || device.ordinal > kHighestDevice) return false;
    const auto same = [&](const Device& each) { return each.ordinal == device.ordinal; };
    const auto found = std::find_if(rank.devices.begin(), rank.devices.end(), same);
    // Operations may have come before the list of devices.
    if (found == rank.devices.end()) {
      rank.devices.push_back(std::move(device));
    } else {
      device.ops = std::move(found->ops);
      *found = std::move(device);
    }
  }
  return true;
}

// "2.20.5" as ncclGetVersion gives it: 22005.
std::optional<int> NcclVersion(std::string_view text) {
  int part[3] = {};
  const char* at = text.data();
  const char* end = at + text.size();
  for (int& number : part) {
    const auto [rest, code] = std::from_chars(at, end, number);
    if (code != std::errc() || number < 0 || number > 999) return std::nullopt;
    at = rest < end && *rest == '.' ? rest + 1 : rest;
  }
  return part[0] * 10000 + part[1] * 100 + part[2];
}

bool Job(ondemand::document& document, Rank& rank) {
  ondemand::object object;
  if (document.get_object().get(object) != simdjson::SUCCESS) return false;
  return ForEachMember(object, [&](std::string_view key, ondemand::value& value) {
    if (key == "rank") rank.rank = SmallInteger(value);
    if (key == "world_size") rank.process.world_size = SmallInteger(value);
    if (key != "nccl_version") return true;
    std::string_view text;
    if (value.get_string().get(text) != simdjson::SUCCESS) return false;
    rank.process.nccl_version = NcclVersion(text);
    return true;
  });
}

struct Version {
  std::string_view key;
  std::optional<int> ProcessFacts::*member;
};
constexpr Version kVersions[] = {
    {"cuda_driver_version", &ProcessFacts::driver_version},
    {"cuda_runtime_version", &ProcessFacts::runtime_version},
    {"cupti_version", &ProcessFacts::cupti_version},
};

}  // namespace

struct KinetoMetadataParser::State {
  ondemand::parser parser;
};

KinetoMetadataParser::KinetoMetadataParser() : state_(std::make_unique<State>()) {}
KinetoMetadataParser::~KinetoMetadataParser() = default;

bool KinetoMetadataParser::Parse(std::string_view key, std::string_view text, Rank& rank) {
  if (key == "baseTimeNanoseconds") {
    const auto base = ParseDecimal(text);
    base_ns_ = base.value_or(0);
    return base.has_value();
  }
  for (const Version& version : kVersions) {
    if (version.key != key) continue;
    const auto number = ParseDecimal(text);
    if (!number || *number < 0 || *number > std::numeric_limits<int>::max()) return false;
    rank.process.*version.member = static_cast<int>(*number);
    return true;
  }
  if (key != "deviceProperties" && key != "distributedInfo") return true;
  ondemand::document document;
  if (state_->parser.iterate(text.data(), text.size(), text.size() + JsonPieces::kPadding)
          .get(document) != simdjson::SUCCESS)
    return false;
  return key == "deviceProperties" ? Devices(document, rank) : Job(document, rank);
}

}  // namespace traceinject
