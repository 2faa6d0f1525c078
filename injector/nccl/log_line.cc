// SPDX-License-Identifier: Apache-2.0
#include "injector/nccl/log_line.h"

#include <charconv>

namespace traceinject {
namespace {

constexpr std::string_view kInfo = " NCCL INFO ";

// Reads a line from left to right. Each call leaves the line as it is when it does not find what it
// looks for.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  std::string_view rest() const { return text_; }

  bool Skip(std::string_view word) {
    if (text_.substr(0, word.size()) != word) return false;
    text_.remove_prefix(word.size());
    return true;
  }

  // Everything up to and with `word`.
  bool SkipPast(std::string_view word) {
    const std::size_t found = text_.find(word);
    if (found == std::string_view::npos) return false;
    text_.remove_prefix(found + word.size());
    return true;
  }

  template <typename Integer>
  bool Number(Integer* value, int base = 10) {
    const auto [end, error] =
        std::from_chars(text_.data(), text_.data() + text_.size(), *value, base);
    if (error != std::errc()) return false;
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return true;
  }

  bool Count(int* value) {
    const std::string_view before = text_;
    if (Number(value) && *value >= 0) return true;
    text_ = before;
    return false;
  }

  // "0x7f3a"
  bool Address(std::uint64_t* value) { return Skip("0x") && Number(value, 16); }

  // Up to one of `ends`, or all that is left.
  std::string_view Until(std::string_view ends) {
    const std::size_t length = std::min(text_.find_first_of(ends), text_.size());
    const std::string_view word = text_.substr(0, length);
    text_.remove_prefix(length);
    return word;
  }

 private:
  std::string_view text_;
};

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// "[ncclCommInitRank ]comm 0x55 rank 0 nranks 2 cudaDev 0 [nvmlDev 0 ]busId 60 [parent 0x54 ...]
// [commId 0x71] - Init START". Splits have no space in front of the dash.
std::optional<NcclLogFact> ParseInit(std::string_view text) {
  NcclLogInit init;
  if (EndsWith(text, "- Init START")) {
    init.moment = NcclLogInit::Moment::kStart;
  } else if (EndsWith(text, "- Init COMPLETE")) {
    init.moment = NcclLogInit::Moment::kReady;
  } else if (EndsWith(text, "- Destroy COMPLETE") || EndsWith(text, "- Abort COMPLETE")) {
    init.moment = NcclLogInit::Moment::kGone;
  } else {
    return std::nullopt;
  }
  Words words(text);
  if (!words.SkipPast("comm ") || !words.Address(&init.address) || !words.Skip(" rank ") ||
      !words.Count(&init.rank) || !words.Skip(" nranks ") || !words.Count(&init.size) ||
      !words.Skip(" cudaDev ") || !words.Count(&init.device) || init.rank >= init.size)
    return std::nullopt;
  if (words.Skip(" nvmlDev ") && !words.Count(&init.nvml_device)) return std::nullopt;
  Words parent = words, id = words;
  if (parent.SkipPast(" parent ") && !parent.Address(&init.parent)) return std::nullopt;
  if (id.SkipPast(" commId ") && !id.Address(&init.hash)) return std::nullopt;
  return init;
}

// "comm 0x55 rank 0 nRanks 2 nNodes 1 localRanks 2 localRank 0 MNNVL 0"
std::optional<NcclLogFact> ParseNodes(std::string_view text) {
  NcclLogNodes found;
  Words words(text);
  if (!words.Skip("comm ") || !words.Address(&found.address) || !words.SkipPast(" nNodes ") ||
      !words.Count(&found.nodes) || found.nodes == 0)
    return std::nullopt;
  return found;
}

// "NVLS comm 0x55 headRank 2 nHeads 8 ..."
std::optional<NcclLogFact> ParseNvls(std::string_view text) {
  NcclLogNvls found;
  Words words(text);
  if (!words.Skip("NVLS comm ") || !words.Address(&found.address) || !words.Skip(" headRank "))
    return std::nullopt;
  return found;
}

// "Using network Socket"
std::optional<NcclLogFact> ParseNetwork(std::string_view text) {
  Words words(text);
  if (!words.Skip("Using network ") || words.rest().empty()) return std::nullopt;
  return NcclLogNetwork{words.rest()};
}

// "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eth0:192.0.2.2<0>", or
// "NET/Socket : Using [0]eth0:192.0.2.2<0> [1]...". Addresses are left out.
std::optional<NcclLogFact> ParseAdapters(std::string_view text) {
  NcclLogAdapters found;
  Words words(text);
  if (!words.Skip("NET/")) return std::nullopt;
  found.network = words.Until(" ");
  if (!words.Skip(" : Using ")) return std::nullopt;
  const bool with_address = found.network == "Socket";
  while (words.rest().find('[') != std::string_view::npos) {
    words.SkipPast("[");
    NcclLogAdapters::Adapter adapter{};
    if (!words.Count(&adapter.number) || !words.Skip("]")) continue;
    adapter.name = words.Until(with_address ? ": " : " ;");
    if (!adapter.name.empty()) found.adapters.push_back(adapter);
  }
  if (found.adapters.empty()) return std::nullopt;
  return found;
}

// "NET/IB : GPU Direct RDMA Enabled for HCA 3 'mlx5_5'"
std::optional<NcclLogFact> ParseGpuDirect(std::string_view text) {
  NcclLogGpuDirect found;
  Words words(text);
  if (!words.Skip("NET/")) return std::nullopt;
  const std::string_view rest = words.rest();
  const std::size_t end = rest.find(" : GPU Direct RDMA ");
  if (end == std::string_view::npos) return std::nullopt;
  found.network = rest.substr(0, end);
  words.SkipPast(" : GPU Direct RDMA ");
  found.enabled = words.Skip("Enabled");
  if (!found.enabled && !words.Skip("Disabled")) return std::nullopt;
  if (!words.Skip(" for HCA ") || !words.Count(&found.number) || !words.Skip(" '"))
    return std::nullopt;
  found.name = words.Until("'");
  return found;
}

// "24 coll channels, [24 collnet channels, ]0 nvls channels, 32 p2p channels, 32 p2p channels per
// peer". The number for CollNet is that of "coll" again, whether CollNet is used or not.
std::optional<NcclLogFact> ParseChannels(std::string_view text) {
  NcclLogChannels found;
  Words words(text);
  if (!words.Count(&found.collective) || !words.Skip(" coll channels, ")) return std::nullopt;
  int count = 0;
  while (words.Count(&count)) {
    if (words.Skip(" nvls channels")) {
      found.nvls = count;
    } else if (words.Skip(" p2p channels per peer")) {
      found.p2p_per_peer = count;
    } else if (words.Skip(" p2p channels")) {
      found.p2p = count;
    }
    if (!words.SkipPast(", ")) break;
  }
  return found;
}

// "Ring 00 : 1 -> 0 -> 1"
std::optional<NcclLogFact> ParseRing(std::string_view text) {
  NcclLogRing found;
  Words words(text);
  if (!words.Skip("Ring ") || !words.Count(&found.number) || !words.Skip(" : "))
    return std::nullopt;
  return found;
}

// "Trees [0] 1/-1/-1->0->-1 [1] ..."; a line that NCCL cut tells of the first ones.
std::optional<NcclLogFact> ParseTrees(std::string_view text) {
  NcclLogTrees found;
  Words words(text);
  if (!words.Skip("Trees")) return std::nullopt;
  while (words.SkipPast(" [")) ++found.count;
  if (found.count == 0) return std::nullopt;
  return found;
}

struct End {
  int rank = 0, nvml_device = -1;
};

// "3[2]", or before 2.18 "3[1c000]" with the address on the bus.
bool ParseEnd(Words* words, End* end) {
  if (!words->Count(&end->rank) || !words->Skip("[")) return false;
  Words device(words->Until("]"));
  if (!device.Count(&end->nvml_device) || !device.rest().empty()) end->nvml_device = -1;
  return words->Skip("]");
}

// "Socket/0", "IB/3(1)/GDRDMA(PCI)/Shared", "AWS Libfabric/2/GDRDMA"
bool ParseNetworkPath(std::string_view path, NcclLogConnection* connection) {
  Words words(path);
  connection->network = words.Until("/");
  if (connection->network.empty() || !words.Skip("/") || !words.Count(&connection->net_device))
    return false;
  if (words.Skip("(") && (!words.Count(&connection->proxy_rank) || !words.Skip(")"))) return false;
  if (words.Skip("/")) connection->detail = words.rest();
  connection->gdrdma = connection->detail.substr(0, 6) == "GDRDMA";
  return words.rest().empty() || !connection->detail.empty();
}

bool ParsePath(std::string_view path, NcclLogConnection* connection) {
  const std::size_t slash = path.find('/');
  if (slash == std::string_view::npos) return false;
  connection->transport = path.substr(0, slash);
  const std::string_view rest = path.substr(slash + 1);
  if (connection->transport == "NET" || connection->transport == "COLLNET")
    return ParseNetworkPath(rest, connection);
  connection->detail = rest;
  return connection->transport == "P2P" || connection->transport == "SHM";
}

// "Channel 00[/1] : 0[0] -> 1[1] [[send] ]via P2P/CUMEM/read". Who writes it sends, unless it says
// that it receives.
std::optional<NcclLogFact> ParseConnection(std::string_view text) {
  NcclLogConnection found;
  Words words(text);
  int index = 0;
  if (!words.Skip("Channel ") || !words.Count(&found.channel)) return std::nullopt;
  if (words.Skip("/") && !words.Count(&index)) return std::nullopt;
  End from, to;
  if (!words.Skip(" : ") || !ParseEnd(&words, &from) || !words.Skip(" -> ") ||
      !ParseEnd(&words, &to) || !words.Skip(" "))
    return std::nullopt;
  found.sends = !words.Skip("[receive] ");
  if (found.sends) words.Skip("[send] ");
  const End& own = found.sends ? from : to;
  found.rank = own.rank;
  found.nvml_device = own.nvml_device;
  found.peer = (found.sends ? to : from).rank;
  if (!words.Skip("via ") || !ParsePath(words.rest(), &found)) return std::nullopt;
  return found;
}

// "CollNet 00/0 : 0 [send] via COLLNET/IB/0/GDRDMA"
std::optional<NcclLogFact> ParseCollNet(std::string_view text) {
  NcclLogConnection found;
  Words words(text);
  int index = 0;
  if (!words.Skip("CollNet ") || !words.Count(&found.channel)) return std::nullopt;
  if (words.Skip("/") && !words.Count(&index)) return std::nullopt;
  if (!words.Skip(" : ") || !words.Count(&found.rank) || !words.Skip(" [")) return std::nullopt;
  found.sends = words.Skip("send] ");
  if (!found.sends && !words.Skip("receive] ")) return std::nullopt;
  if (!words.Skip("via ") || !ParsePath(words.rest(), &found)) return std::nullopt;
  return found;
}

}  // namespace

std::optional<NcclLogLine> ParseNcclLogLine(std::string_view line) {
  const std::size_t info = line.find(kInfo);
  if (info == std::string_view::npos) return std::nullopt;
  // In front of it "[device]", and in front of that host, process and thread. A host's name and a
  // time in front of it may have colons of their own.
  const std::size_t device = line.substr(0, info).rfind(" [");
  if (device == std::string_view::npos) return std::nullopt;
  const std::size_t colon = line.substr(0, device).rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  NcclLogLine found;
  Words tid(line.substr(colon + 1, device - colon - 1));
  if (!tid.Count(&found.tid) || !tid.rest().empty()) return std::nullopt;
  found.text = line.substr(info + kInfo.size());
  while (!found.text.empty() && (found.text.back() == ' ' || found.text.back() == '\r'))
    found.text.remove_suffix(1);
  return found;
}

NcclLogFact ParseNcclLogText(std::string_view text) {
  constexpr decltype(&ParseInit) kParsers[] = {
      ParseConnection, ParseInit, ParseNodes, ParseNvls,    ParseNetwork, ParseAdapters,
      ParseGpuDirect,  ParseRing, ParseTrees, ParseCollNet, ParseChannels};
  for (const auto parse : kParsers) {
    if (std::optional<NcclLogFact> fact = parse(text)) return *std::move(fact);
  }
  return std::monostate{};
}

}  // namespace traceinject
