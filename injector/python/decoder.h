// SPDX-License-Identifier: Apache-2.0
// What hooks.py reported -> rows. Writer thread only.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "injector/base/events.h"
#include "injector/rows/dictionary.h"

namespace traceinject {

class PythonDecoder {
 public:
  PythonDecoder(std::int64_t base_ns, Dictionary* dictionary, Batch* batch)
      : base_ns_(base_ns), dictionary_(dictionary), batch_(batch) {}

  // Whether events of this type are for this decoder.
  static bool Decodes(EventType type) {
    return type == EventType::kDataLoader || type == EventType::kDataWait ||
           type == EventType::kStepMark || type == EventType::kHostSpan ||
           type == EventType::kWorker || type == EventType::kAttention ||
           type == EventType::kAllocatorSample;
  }

  // A process that works for a loader (data_loader.id; 0: unknown).
  struct ToldWorker {
    std::int64_t pid;
    std::uint32_t loader;
  };
  // Those that were told of since the last time; not more than kMaxWorkers.
  static constexpr std::size_t kMaxWorkers = 4096;
  std::vector<ToldWorker> TakeWorkers() { return std::exchange(workers_, {}); }

  // `tid`: the thread that reported it. O(log loaders).
  void Decode(int tid, const PythonEvent& event);

 private:
  void DecodeLoader(const PythonEvent& event);
  void DecodeAttention(int tid, const PythonEvent& event);
  void DecodeAllocator(const PythonEvent& event);
  std::uint32_t Loader(std::int64_t number) const;
  std::uint32_t Shape(std::int64_t number);

  std::int64_t base_ns_;
  Dictionary* dictionary_;
  Batch* batch_;
  std::vector<ToldWorker> workers_;
  std::map<std::int64_t, std::uint32_t> loaders_;  // the script's number -> data_loader.id
  std::map<std::int64_t, std::uint32_t> shapes_;   // of g_attention_shapes -> attention_shape.id
};

}  // namespace traceinject
