// SPDX-License-Identifier: Apache-2.0
// What repeats in events gets a small id, and its row goes into the batch once: the dictionary
// tables of run_db.sql. Ids are dense, from 1.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "injector/store/rows.h"

namespace traceinject {

// Hash and equality over the bytes of keys that are plain arrays of integers.
template <typename Array>
struct BytesHash {
  std::size_t operator()(const Array& key) const {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (auto part : key) {
      hash = (hash ^ static_cast<std::uint64_t>(part)) * 0x9E3779B97F4A7C15;
      hash ^= hash >> 32;
    }
    return hash;
  }
};

template <std::size_t n>
using IntegerKey = std::array<std::uint64_t, n>;

// Key -> dense id. Id() calls `make(id)` when the key is new, which adds the row.
template <typename Key, typename Hash = std::hash<Key>>
class IdMap {
 public:
  template <typename Make>
  std::uint32_t Id(const Key& key, Make make) {
    auto [entry, fresh] = ids_.try_emplace(key, static_cast<std::uint32_t>(ids_.size() + 1));
    if (fresh) make(entry->second);
    return entry->second;
  }

 private:
  std::unordered_map<Key, std::uint32_t, Hash> ids_;
};

template <std::size_t n>
using IntegerIdMap = IdMap<IntegerKey<n>, BytesHash<IntegerKey<n>>>;

// The writer thread's; new rows are appended to the batch given at construction.
class Dictionary {
 public:
  // At least the last so many different texts are known; at most twice as many.
  static constexpr std::size_t kStringsKept = 100'000;
  // Streams that were described and not used yet; beyond, all of them are forgotten.
  static constexpr std::size_t kUnusedStreamsKept = 16'384;

  explicit Dictionary(Batch* batch) : batch_(batch) {}

  // Programs may make up a text for each event (torch's emit_nvtx does): what was not used lately
  // is forgotten, and would get another id. O(length), amortised.
  std::uint32_t String(std::string_view text) {
    if (auto known = strings_.find(text); known != strings_.end()) return known->second;
    std::uint32_t id = 0;
    if (auto older = older_strings_.find(text); older != older_strings_.end()) {
      id = older->second;
    } else {
      id = ++string_count_;
      batch_->strings.push_back({id, std::string(text)});
    }
    if (strings_.size() >= kStringsKept) older_strings_ = std::exchange(strings_, {});
    strings_.emplace(std::string(text), id);
    return id;
  }
  // For strings that never move or change: one look-up by address.
  std::uint32_t StableString(const char* text) {
    auto [entry, fresh] = stable_strings_.try_emplace(text, 0);
    if (fresh) entry->second = String(text);
    return entry->second;
  }

  std::uint32_t Thread(std::int64_t tid);
  // nvtxNameOsThread: the program's own name for a thread.
  void NameThread(std::int64_t tid, std::string_view name);

  std::uint32_t Stream(std::uint32_t device, std::uint32_t context, std::uint32_t stream);
  // What is known of a stream beside its numbers, which may be told before or after its first use:
  // one that is never used gets no row.
  void DescribeStream(std::uint32_t context, std::uint32_t stream, std::int32_t priority,
                      std::uint32_t flags);
  // nvtxNameCudaStream and the like.
  void NameStream(std::uint32_t context, std::uint32_t stream, std::string_view name);

  std::uint32_t GraphNode(std::uint32_t graph, std::uint64_t node) {
    if (node == 0) return 0;
    return graph_nodes_.Id({graph, node}, [&](std::uint32_t id) {
      batch_->graph_nodes.push_back({id, graph, node});
    });
  }
  // `shape.id` and `shape.name` are filled in; `name` must be stable (NameTable).
  std::uint32_t Shape(const char* name, KernelShapeRow shape);

  std::uint32_t ApiName(int domain, std::uint32_t cbid, std::string_view name, int call_class) {
    return api_names_.Id({static_cast<std::uint64_t>(domain), cbid}, [&](std::uint32_t id) {
      batch_->api_names.push_back({id, domain, cbid, std::string(name), call_class});
    });
  }

  // `function` never moves or changes; `shape.id` and `shape.function` are filled in.
  std::uint32_t GemmShape(const char* function, GemmShapeRow shape);

  // `shape.id` is filled in.
  std::uint32_t AttentionShape(AttentionShapeRow shape);

  std::uint32_t Event(std::uint64_t handle) {
    return events_.Id({handle}, [](std::uint32_t) {});
  }

 private:
  struct StringHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };

  StreamRow& AboutStream(std::uint32_t context, std::uint32_t stream);

  using StringIds = std::unordered_map<std::string, std::uint32_t, StringHash, std::equal_to<>>;

  Batch* batch_;
  StringIds strings_, older_strings_;
  std::uint32_t string_count_ = 0;
  std::unordered_map<const void*, std::uint32_t> stable_strings_;
  IntegerIdMap<1> threads_;
  IntegerIdMap<3> streams_;
  // By context and number; id 0: not used yet.
  std::unordered_map<IntegerKey<2>, StreamRow, BytesHash<IntegerKey<2>>> about_streams_;
  std::size_t used_streams_ = 0;  // of about_streams_
  IntegerIdMap<2> graph_nodes_;
  IntegerIdMap<14> shapes_;
  IntegerIdMap<2> api_names_;
  IntegerIdMap<11> gemm_shapes_;
  IntegerIdMap<10> attention_shapes_;
  IntegerIdMap<1> events_;
};

}  // namespace traceinject
