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
#include <unordered_set>
#include <utility>
#include <vector>

#include "injector/rows/rows.h"

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

// An id and when it was asked for last, counted in flushes of the writer.
struct UsedId {
  std::uint32_t id, flush;
};

// Key -> dense id. Id() calls `make(id)` when the key is new, which adds the row.
template <typename Key, typename Hash = std::hash<Key>>
class IdMap {
 public:
  template <typename Make>
  std::uint32_t Id(const Key& key, Make make, std::uint32_t flush = 0) {
    auto [entry, fresh] = ids_.try_emplace(key, UsedId{last_id_ + 1, flush});
    if (fresh) make(++last_id_);
    entry->second.flush = flush;
    return entry->second.id;
  }

  // Forgets what was not asked for after `flush`, but for what `stays(key, id)`, and appends its
  // ids. They are not given again. O(size).
  template <typename Stays>
  void Forget(std::uint32_t flush, std::vector<std::uint32_t>* forgotten, Stays stays) {
    std::erase_if(ids_, [&](const auto& entry) {
      if (entry.second.flush > flush || stays(entry.first, entry.second.id)) return false;
      forgotten->push_back(entry.second.id);
      return true;
    });
  }
  void Forget(std::uint32_t flush, std::vector<std::uint32_t>* forgotten) {
    Forget(flush, forgotten, [](const Key&, std::uint32_t) { return false; });
  }
  std::size_t size() const { return ids_.size(); }

 private:
  std::unordered_map<Key, UsedId, Hash> ids_;
  std::uint32_t last_id_ = 0;
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

  // A row that was looked up may wait for the end of the next flush before it is stored, and then
  // for the end of a slice of the file.
  static constexpr std::uint32_t kFlushesUntilStored = 3;

  // `rows_go`: rows are removed from the file again (TRACEINJECT_KEEP_LAST), see ForgetUnused.
  explicit Dictionary(Batch* batch, bool rows_go = false) : batch_(batch), rows_go_(rows_go) {}

  // Programs may make up a text for each event (torch's emit_nvtx does): what was not used lately
  // is forgotten, and would get another id. O(length), amortised.
  std::uint32_t String(std::string_view text) {
    if (auto known = strings_.find(text); known != strings_.end()) {
      known->second.flush = flush_;
      return known->second.id;
    }
    UsedId used{};
    if (auto older = older_strings_.find(text); older != older_strings_.end()) {
      used = older->second;
      older_strings_.erase(older);
    } else {
      used.id = ++string_count_;
      batch_->strings.push_back({used.id, std::string(text)});
    }
    used.flush = flush_;
    if (strings_.size() >= kStringsKept) ForgetOlderStrings();
    strings_.emplace(std::string(text), used);
    return used.id;
  }
  // For those that dictionary rows or events that wait for long refer to: never forgotten, so they
  // must be few.
  std::uint32_t KeptString(std::string_view text) {
    const std::uint32_t id = String(text);
    kept_strings_.insert(id);
    return id;
  }
  // For strings that never move or change: one look-up by address.
  std::uint32_t StableString(const char* text) {
    auto [entry, fresh] = stable_strings_.try_emplace(text, 0);
    if (fresh) entry->second = KeptString(text);
    return entry->second;
  }

  // Call at the beginning of each flush of the writer; counts them.
  std::uint32_t BeginFlush() { return ++flush_; }
  std::uint32_t flush() const { return flush_; }

  // No row of the file refers to what was decoded up to `flush` any more, but to those in `kept`.
  // Rows that nothing refers to go to Batch::unused; those of threads only once they ended. O(all
  // that is known), at most now and then as it doubles.
  void ForgetUnused(std::uint32_t flush, const KeptIds& kept);

  // Asks the kernel once in each flush whether it is still the same thread.
  std::uint32_t Thread(std::int64_t tid);
  // The same where it is known when the thread began, as ticks since boot: ids are used again, and
  // events of this flush that tell no time of beginning belong to the last thread that was told.
  std::uint32_t Thread(std::int64_t tid, std::int64_t start_ticks);
  // nvtxNameOsThread: the program's own name for a thread.
  void NameThread(std::int64_t tid, std::string_view name);

  // No later row refers to this worker than those that are handed over with its end.
  void WorkerEnded(std::uint32_t id) {
    if (rows_go_) ended_workers_.push_back({id, flush_});
  }

  std::uint32_t Stream(std::uint32_t device, std::uint32_t context, std::uint32_t stream);
  // What is known of a stream beside its numbers, which may be told before or after its first use:
  // one that is never used gets no row.
  void DescribeStream(std::uint32_t context, std::uint32_t stream, std::int32_t priority,
                      std::uint32_t flags);
  // nvtxNameCudaStream and the like.
  void NameStream(std::uint32_t context, std::uint32_t stream, std::string_view name);

  std::uint32_t GraphNode(std::uint32_t graph, std::uint64_t node) {
    if (node == 0) return 0;
    return graph_nodes_.Id(
        {graph, node},
        [&](std::uint32_t id) {
          batch_->graph_nodes.push_back({id, graph, node});
        },
        flush_);
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

  // A line of a function; `first_line` -1: unknown. In each flush that uses it all of a stack is to
  // be asked for anew, from the outermost frame on, so that it is not forgotten in parts.
  std::uint32_t CodePlace(std::string_view function, std::string_view file, std::int64_t line,
                          std::int64_t first_line);
  // A frame and its caller's stack; `parent` 0: the outermost one.
  std::uint32_t Stack(std::uint32_t parent, std::uint32_t place, std::string_view module = {});

  std::uint32_t Event(std::uint64_t handle) {
    return events_.Id(
        {handle}, [](std::uint32_t) {}, flush_);
  }

 private:
  struct StringHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };

  StreamRow& AboutStream(std::uint32_t context, std::uint32_t stream);

  using StringIds = std::unordered_map<std::string, UsedId, StringHash, std::equal_to<>>;

  void ForgetOlderStrings();
  void ForgetStrings(std::uint32_t flush, const std::vector<std::uint32_t>& kept);
  void ForgetThreads(std::uint32_t flush, const std::vector<std::uint32_t>& kept);
  void ForgetStreams(std::uint32_t flush);
  void ForgetWorkers(std::uint32_t flush);
  std::size_t known() const;

  Batch* batch_;
  const bool rows_go_;
  std::uint32_t flush_ = 0;
  std::size_t known_after_forgetting_ = 0;
  StringIds strings_, older_strings_;
  std::vector<UsedId> forgotten_strings_;  // whose rows are still in the file; only with rows_go_
  std::unordered_set<std::uint32_t> kept_strings_;
  std::uint32_t string_count_ = 0;
  std::unordered_map<const void*, std::uint32_t> stable_strings_;
  struct ThreadStart {
    std::int64_t ticks;   // 0: unknown
    std::uint32_t flush;  // in which the kernel or an event told it
  };
  std::unordered_map<std::int64_t, ThreadStart> thread_starts_;
  IntegerIdMap<2> threads_;                                        // by id and start
  std::unordered_map<std::uint32_t, std::uint32_t> thread_names_;  // texts, by id; 0: none
  std::vector<UsedId> ended_workers_;                              // only with rows_go_
  IntegerIdMap<3> streams_;
  // By context and number; id 0: not used yet.
  std::unordered_map<IntegerKey<2>, StreamRow, BytesHash<IntegerKey<2>>> about_streams_;
  std::size_t used_streams_ = 0;  // of about_streams_
  IntegerIdMap<2> graph_nodes_;
  IntegerIdMap<14> shapes_;
  IntegerIdMap<2> api_names_;
  IntegerIdMap<12> gemm_shapes_;
  IntegerIdMap<10> attention_shapes_;
  IntegerIdMap<4> code_places_;
  IntegerIdMap<3> stacks_;
  IntegerIdMap<1> events_;
};

}  // namespace traceinject
