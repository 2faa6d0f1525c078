// SPDX-License-Identifier: Apache-2.0
#include "injector/nccl/log_decoder.h"

#include <algorithm>

#include "injector/base/counters.h"

namespace traceinject {
namespace {

// How many are kept at most.
constexpr std::size_t kMaxSetups = 4'096;
constexpr std::size_t kMaxLinks = 65'536;
constexpr std::size_t kMaxFacts = 1'024;
constexpr std::size_t kMaxThreads = 4'096;

}  // namespace

void NcclLogDecoder::Decode(std::string_view text) {
  const std::optional<NcclLogLine> line = ParseNcclLogLine(text);
  const bool told = line && std::visit([&](const auto& fact) { return Note(line->tid, fact); },
                                       ParseNcclLogText(line->text));
  g_counters.Add(told ? Health::kNcclLogLines : Health::kNcclLogIgnored);
}

NcclLogDecoder::Setup* NcclLogDecoder::OfThread(int tid) {
  if (tid == 0) return nullptr;  // no thread has it
  const auto found = std::find_if(setups_.rbegin(), setups_.rend(),
                                  [&](const Setup& setup) { return setup.thread == tid; });
  return found == setups_.rend() ? nullptr : &*found;
}

NcclLogDecoder::Setup* NcclLogDecoder::OfAddress(std::uint64_t address) {
  const auto found = std::find_if(setups_.rbegin(), setups_.rend(), [&](const Setup& setup) {
    return setup.init.address == address && !setup.gone;
  });
  return found == setups_.rend() ? nullptr : &*found;
}

bool NcclLogDecoder::Note(int, const std::monostate&) { return false; }

bool NcclLogDecoder::Note(int tid, const NcclLogInit& init) {
  if (init.moment != NcclLogInit::Moment::kStart) {
    Setup* known = OfAddress(init.address);
    if (known == nullptr) return false;
    known->thread = 0;
    known->gone = init.moment == NcclLogInit::Moment::kGone;
    return true;
  }
  // What the thread made before failed, or ended without a word.
  if (Setup* before = OfThread(tid)) before->thread = 0;
  const Setup* parent = init.parent == 0 ? nullptr : OfAddress(init.parent);
  const std::uint32_t parent_id = parent == nullptr ? 0 : parent->row.id;
  if (Setup* before = OfAddress(init.address)) before->gone = true;
  if (setups_.size() >= kMaxSetups) {
    g_counters.Add(Health::kNcclLogDropped);
    return false;
  }
  Setup setup;
  setup.init = init;
  setup.parent = parent_id;
  setup.thread = tid;
  setup.changed = true;
  NcclSetupRow& row = setup.row;
  row.id = static_cast<std::uint32_t>(setups_.size() + 1);
  row.rank = init.rank;
  row.size = init.size;
  row.device = init.device;
  row.nodes = row.rings = row.trees = row.channels = row.nvls_channels = row.p2p_channels =
      row.p2p_channels_per_peer = -1;
  if (const auto network = networks_.find(tid); network != networks_.end()) {
    row.network = dictionary_->KeptString(network->second);
    networks_.erase(network);
  }
  setups_.push_back(setup);
  return true;
}

bool NcclLogDecoder::Note(int, const NcclLogNodes& nodes) {
  Setup* setup = OfAddress(nodes.address);
  if (setup == nullptr) return false;
  setup->row.nodes = nodes.nodes;
  return setup->changed = true;
}

bool NcclLogDecoder::Note(int, const NcclLogNvls& nvls) {
  Setup* setup = OfAddress(nvls.address);
  if (setup == nullptr) return false;
  setup->row.nvls = true;
  return setup->changed = true;
}

// Newer versions say so in front of the start, older ones after it.
bool NcclLogDecoder::Note(int tid, const NcclLogNetwork& network) {
  if (Setup* setup = OfThread(tid)) {
    setup->row.network = dictionary_->KeptString(network.name);
    return setup->changed = true;
  }
  if (networks_.size() >= kMaxThreads) networks_.clear();
  networks_.insert_or_assign(tid, std::string(network.name));
  return true;
}

void NcclLogDecoder::NoteFact(std::string key, std::string_view value) {
  if (facts_.size() >= kMaxFacts) return g_counters.Add(Health::kNcclLogDropped);
  const auto [fact, fresh] = facts_.try_emplace(std::move(key), value);
  if (!fresh && fact->second == value) return;
  fact->second = value;
  batch_->facts.push_back({"nccl_net", fact->first, fact->second, {}});
}

bool NcclLogDecoder::Note(int, const NcclLogAdapters& adapters) {
  for (const NcclLogAdapters::Adapter& adapter : adapters.adapters) {
    NoteFact(std::string(adapters.network) + "." + std::to_string(adapter.number), adapter.name);
  }
  return true;
}

bool NcclLogDecoder::Note(int, const NcclLogGpuDirect& direct) {
  const std::string key = std::string(direct.network) + "." + std::to_string(direct.number);
  if (!facts_.contains(key)) NoteFact(key, direct.name);  // a plug-in's
  NoteFact(key + ".gpu_direct_rdma", direct.enabled ? "enabled" : "disabled");
  return true;
}

bool NcclLogDecoder::Note(int tid, const NcclLogChannels& channels) {
  Setup* setup = OfThread(tid);
  if (setup == nullptr) return false;
  setup->row.channels = channels.collective;
  setup->row.nvls_channels = channels.nvls;
  setup->row.p2p_channels = channels.p2p;
  setup->row.p2p_channels_per_peer = channels.p2p_per_peer;
  return setup->changed = true;
}

bool NcclLogDecoder::Note(int tid, const NcclLogRing& ring) {
  Setup* setup = OfThread(tid);
  if (setup == nullptr || ring.number >= static_cast<int>(kMaxChannels)) return false;
  setup->row.rings = std::max(setup->row.rings, ring.number + 1);
  return setup->changed = true;
}

bool NcclLogDecoder::Note(int tid, const NcclLogTrees& trees) {
  Setup* setup = OfThread(tid);
  if (setup == nullptr) return false;
  setup->row.trees = trees.count;
  return setup->changed = true;
}

const NcclLogDecoder::Setup* NcclLogDecoder::Of(int tid, const NcclLogConnection& connection) {
  const auto has_ranks = [&](const Setup& setup) {
    return setup.init.rank == connection.rank && connection.peer < setup.init.size;
  };
  const Setup* making = OfThread(tid);
  if (making != nullptr && has_ranks(*making)) return making;
  const Setup* only = nullptr;
  for (const Setup& setup : setups_) {
    const bool same_gpu = connection.nvml_device < 0 || setup.init.nvml_device < 0 ||
                          connection.nvml_device == setup.init.nvml_device;
    if (setup.gone || setup.thread != 0 || !has_ranks(setup) || !same_gpu) continue;
    if (only != nullptr) return nullptr;
    only = &setup;
  }
  return only;
}

bool NcclLogDecoder::Note(int tid, const NcclLogConnection& connection) {
  if (connection.channel >= static_cast<int>(kMaxChannels)) return false;
  const Setup* setup = Of(tid, connection);
  const auto text = [&](std::string_view word) {
    return word.empty() ? 0 : dictionary_->KeptString(word);
  };
  NcclLinkRow row{};
  row.setup = setup == nullptr ? 0 : setup->row.id;
  row.rank = connection.rank;
  row.peer = connection.peer;
  row.sends = connection.sends;
  row.transport = text(connection.transport);
  row.detail = text(connection.detail);
  row.network = text(connection.network);
  row.net_device = connection.net_device;
  row.gdrdma = connection.net_device < 0 ? -1 : connection.gdrdma ? 1 : 0;
  row.proxy_rank = connection.proxy_rank;
  const Key key{row.setup,  row.rank,    row.peer,       row.sends,     row.transport,
                row.detail, row.network, row.net_device, row.proxy_rank};
  auto found = links_.find(key);
  if (found == links_.end()) {
    if (links_.size() >= kMaxLinks) {
      g_counters.Add(Health::kNcclLogDropped);
      return false;
    }
    row.id = static_cast<std::uint32_t>(links_.size() + 1);
    found = links_.emplace(key, Link{row, {}, false}).first;
    if (setup == nullptr) g_counters.Add(Health::kNcclLogUnassigned);
  }
  Link& link = found->second;
  link.channels.set(static_cast<std::size_t>(connection.channel));
  link.row.channels = static_cast<int>(link.channels.count());
  if (!link.changed) changed_links_.push_back(key);
  return link.changed = true;
}

std::uint32_t NcclLogDecoder::FindCommunicator(const Setup& setup) {
  const NcclLogInit& init = setup.init;
  if (init.hash != 0) return communicators_->Find(init.hash, init.rank, init.size);
  const std::uint32_t parent = setup.parent == 0 ? 0 : setups_[setup.parent - 1].row.communicator;
  return parent == 0 ? 0 : communicators_->FindChild(parent, init.rank, init.size);
}

void NcclLogDecoder::EndFlush() {
  for (Setup& setup : setups_) {
    if (setup.row.communicator == 0) {
      setup.row.communicator = FindCommunicator(setup);
      setup.changed |= setup.row.communicator != 0;
    }
    if (!setup.changed) continue;
    setup.changed = false;
    batch_->nccl_setups.push_back(setup.row);
  }
  for (const Key& key : changed_links_) {
    Link& link = links_.at(key);
    link.changed = false;
    batch_->nccl_links.push_back(link.row);
  }
  changed_links_.clear();
}

}  // namespace traceinject
