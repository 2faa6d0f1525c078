// SPDX-License-Identifier: Apache-2.0
#include "injector/rows/dictionary.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "machine/proc_files.h"

namespace traceinject {
namespace {

// Empty if the thread is gone or of another namespace.
std::string ReadThreadName(std::int64_t tid) {
  char path[64], name[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%lld/comm", static_cast<long long>(tid));
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t length = read(file, name, sizeof name);
  close(file);
  return length > 1 ? std::string(name, static_cast<std::size_t>(length - 1)) : std::string();
}

// 0 if that cannot be told.
std::int64_t ReadThreadStart(std::int64_t tid) {
  const auto text = ReadTextFile("/proc/self/task/" + std::to_string(tid) + "/stat");
  const auto stat = text ? ParseProcStat(*text) : std::nullopt;
  return stat ? stat->start_ticks : 0;
}

bool IsAlive(std::int64_t tid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%lld", static_cast<long long>(tid));
  return access(path, F_OK) == 0;
}

}  // namespace

void Dictionary::ForgetOlderStrings() {
  if (rows_go_) {
    for (const auto& [text, used] : older_strings_) forgotten_strings_.push_back(used);
  }
  older_strings_ = std::exchange(strings_, {});
}

std::size_t Dictionary::known() const {
  return strings_.size() + older_strings_.size() + forgotten_strings_.size() + shapes_.size() +
         gemm_shapes_.size() + graph_nodes_.size() + events_.size() + threads_.size() +
         streams_.size() + ended_workers_.size() + code_places_.size() + stacks_.size();
}

void Dictionary::ForgetStrings(std::uint32_t flush, const std::vector<std::uint32_t>& kept) {
  std::unordered_set<std::uint32_t> stay(kept.begin(), kept.end());
  for (const auto& [thread, name] : thread_names_) stay.insert(name);
  for (const auto& [key, stream] : about_streams_) stay.insert(stream.name);
  std::vector<std::uint32_t>& unused = batch_->unused.strings;
  const auto forget = [&](const UsedId& used) {
    if (used.flush > flush || stay.contains(used.id) || kept_strings_.contains(used.id))
      return false;
    unused.push_back(used.id);
    return true;
  };
  for (StringIds* strings : {&strings_, &older_strings_})
    std::erase_if(*strings, [&](const auto& entry) { return forget(entry.second); });
  std::erase_if(forgotten_strings_, forget);
}

// A thread that lives may come back with its old id in a row that was begun long ago.
void Dictionary::ForgetThreads(std::uint32_t flush, const std::vector<std::uint32_t>& kept) {
  const std::unordered_set<std::uint32_t> stay(kept.begin(), kept.end());
  std::vector<std::uint32_t> unused;
  threads_.Forget(flush, &unused, [&](const IntegerKey<2>& thread, std::uint32_t id) {
    const auto tid = static_cast<std::int64_t>(thread[0]);
    if (stay.contains(id)) return true;
    return thread_starts_[tid].ticks == static_cast<std::int64_t>(thread[1]) && IsAlive(tid);
  });
  std::erase_if(thread_starts_, [](const auto& thread) { return !IsAlive(thread.first); });
  for (const std::uint32_t id : unused) thread_names_.erase(id);
  batch_->unused.threads.insert(batch_->unused.threads.end(), unused.begin(), unused.end());
}

// What is known of a stream beside its numbers stays with those that were not used yet.
void Dictionary::ForgetStreams(std::uint32_t flush) {
  std::vector<std::uint32_t>& unused = batch_->unused.streams;
  const std::size_t before = unused.size();
  streams_.Forget(flush, &unused);
  const std::unordered_set<std::uint32_t> gone(unused.begin() + static_cast<std::ptrdiff_t>(before),
                                               unused.end());
  for (auto& [key, row] : about_streams_) {
    if (row.id == 0 || !gone.contains(row.id)) continue;
    row.id = 0;
    --used_streams_;
  }
}

void Dictionary::ForgetWorkers(std::uint32_t flush) {
  std::erase_if(ended_workers_, [&](const UsedId& worker) {
    if (worker.flush > flush) return false;
    batch_->unused.workers.push_back(worker.id);
    return true;
  });
}

void Dictionary::ForgetUnused(std::uint32_t flush, const KeptIds& kept) {
  constexpr std::size_t kFew = 1024;
  if (flush <= kFlushesUntilStored || known() < kFew + 2 * known_after_forgetting_) return;
  const std::uint32_t unused_since = flush - kFlushesUntilStored;
  ForgetThreads(unused_since, kept.threads);
  ForgetStreams(unused_since);
  ForgetWorkers(unused_since);
  ForgetStrings(unused_since, kept.strings);  // after those that they are names of
  shapes_.Forget(unused_since, &batch_->unused.shapes);
  gemm_shapes_.Forget(unused_since, &batch_->unused.gemm_shapes);
  graph_nodes_.Forget(unused_since, &batch_->unused.graph_nodes);
  code_places_.Forget(unused_since, &batch_->unused.code_places);
  stacks_.Forget(unused_since, &batch_->unused.stacks);
  std::vector<std::uint32_t> without_rows;
  events_.Forget(unused_since, &without_rows);
  known_after_forgetting_ = known();
}

std::uint32_t Dictionary::Thread(std::int64_t tid) {
  const auto [known, fresh] = thread_starts_.try_emplace(tid, ThreadStart{0, flush_});
  ThreadStart& start = known->second;
  if (fresh || start.flush != flush_) {
    start.flush = flush_;
    // Of one that ended, what was known of it stays true.
    if (const std::int64_t ticks = ReadThreadStart(tid); ticks != 0) start.ticks = ticks;
  }
  return threads_.Id(
      {static_cast<std::uint64_t>(tid), static_cast<std::uint64_t>(start.ticks)},
      [&](std::uint32_t id) {
        const std::string name = ReadThreadName(tid);
        const std::uint32_t text = name.empty() ? 0 : String(name);
        thread_names_[id] = text;
        batch_->threads.push_back({id, tid, text});
      },
      flush_);
}

std::uint32_t Dictionary::Thread(std::int64_t tid, std::int64_t start_ticks) {
  thread_starts_[tid] = {start_ticks, flush_};
  return Thread(tid);
}

void Dictionary::NameThread(std::int64_t tid, std::string_view name) {
  const std::uint32_t id = Thread(tid);
  batch_->threads.push_back({id, tid, thread_names_[id] = String(name)});  // replaces the row
}

StreamRow& Dictionary::AboutStream(std::uint32_t context, std::uint32_t stream) {
  // A program may make a stream for each step, and none of them come back.
  if (about_streams_.size() > used_streams_ + kUnusedStreamsKept)
    std::erase_if(about_streams_, [](const auto& entry) { return entry.second.id == 0; });
  return about_streams_[{context, stream}];
}

std::uint32_t Dictionary::Stream(std::uint32_t device, std::uint32_t context,
                                 std::uint32_t stream) {
  return streams_.Id(
      {device, context, stream},
      [&](std::uint32_t id) {
        StreamRow& row = AboutStream(context, stream);
        if (row.id == 0) ++used_streams_;
        row.id = id;
        row.device = device;
        row.context = context;
        row.stream_id = stream;
        batch_->streams.push_back(row);
      },
      flush_);
}

void Dictionary::DescribeStream(std::uint32_t context, std::uint32_t stream, std::int32_t priority,
                                std::uint32_t flags) {
  StreamRow& row = AboutStream(context, stream);
  row.has_priority = true;
  row.priority = priority;
  row.flags = flags;
  if (row.id != 0) batch_->streams.push_back(row);  // replaces the row
}

void Dictionary::NameStream(std::uint32_t context, std::uint32_t stream, std::string_view name) {
  StreamRow& row = AboutStream(context, stream);
  row.name = String(name);
  if (row.id != 0) batch_->streams.push_back(row);
}

std::uint32_t Dictionary::Shape(const char* name, KernelShapeRow shape) {
  shape.name = StableString(name);
  auto part = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  return shapes_.Id(
      {shape.name, part(shape.grid[0]), part(shape.grid[1]), part(shape.grid[2]),
       part(shape.block[0]), part(shape.block[1]), part(shape.block[2]), part(shape.cluster[0]),
       part(shape.cluster[1]), part(shape.cluster[2]), part(shape.registers),
       part(shape.static_shared_bytes), part(shape.dynamic_shared_bytes), shape.local_bytes},
      [&](std::uint32_t id) {
        shape.id = id;
        batch_->shapes.push_back(shape);
      },
      flush_);
}

std::uint32_t Dictionary::GemmShape(const char* function, GemmShapeRow shape) {
  shape.function = StableString(function);
  auto part = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  return gemm_shapes_.Id(
      {shape.function, part(shape.m), part(shape.n), part(shape.k), part(shape.batch),
       part(shape.trans_a), part(shape.trans_b), part(shape.type_a), part(shape.type_b),
       part(shape.type_c), part(shape.compute_type), part(shape.least_bytes)},
      [&](std::uint32_t id) {
        shape.id = id;
        batch_->gemm_shapes.push_back(shape);
      },
      flush_);
}

std::uint32_t Dictionary::CodePlace(std::string_view function, std::string_view file,
                                    std::int64_t line, std::int64_t first_line) {
  CodePlaceRow row{0, String(function), String(file), line, first_line};
  return code_places_.Id(
      {row.function, row.file, static_cast<std::uint64_t>(line),
       static_cast<std::uint64_t>(first_line)},
      [&](std::uint32_t id) {
        row.id = id;
        batch_->code_places.push_back(row);
      },
      flush_);
}

std::uint32_t Dictionary::Stack(std::uint32_t parent, std::uint32_t place,
                                std::string_view module) {
  const std::uint32_t module_id = module.empty() ? 0 : String(module);
  return stacks_.Id(
      {parent, place, module_id},
      [&](std::uint32_t id) {
        batch_->stacks.push_back({id, parent, place, module_id});
      },
      flush_);
}

std::uint32_t Dictionary::AttentionShape(AttentionShapeRow shape) {
  auto part = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  return attention_shapes_.Id(
      {part(shape.library), part(shape.batch), part(shape.heads), part(shape.kv_heads),
       part(shape.query_length), part(shape.key_length), part(shape.head_size),
       part(shape.value_head_size), part(shape.type), part(shape.causal)},
      [&](std::uint32_t id) {
        shape.id = id;
        batch_->attention_shapes.push_back(shape);
      });
}

}  // namespace traceinject
