// SPDX-License-Identifier: Apache-2.0
// The NVTX injection: handlers for the functions that modules with embedded NVTX call, and the two
// entry points by which they find us.
//
// ABI: nvtx3/nvtxDetail/nvtxTypes.h (callback ids, function types) and nvtxExtTypes.h (extension
// modules) of the CUDA toolkit. Each module that embeds NVTX calls the entry points once, possibly
// on several threads at once: nothing here depends on the order.
//
// Handlers run on the program's threads: they copy the event into the thread's ring and return.
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <string>
#include <string_view>

#include "injector/base/clock.h"
#include "injector/base/counters.h"
#include "injector/base/events.h"
#include "injector/base/exported.h"
#include "injector/base/own_cost.h"
#include "injector/base/ring.h"
#include "injector/base/safe_point.h"
#include "injector/base/sources.h"
#include "injector/base/state.h"
#include "injector/cuda/stream_ids.h"
#include "injector/options/options.h"

namespace traceinject {
namespace {

std::atomic<std::uint64_t> g_next_range{1};

// A push or pop of this thread was dropped, and no event since then has said so.
thread_local constinit bool t_lost = false;

// Names that programs registered, found again by content so that every module's "NCCL" is one
// domain. A hash table of lists that only grow, without a lock: a child forked in the middle of a
// registration must be able to register, too. Registration is rare and may allocate; events never
// come here.
class RegisteredNames {
 public:
  // Null: there is no memory. To NVTX that is the default domain, or no text.
  const NvtxName* Find(std::string_view text) {
    std::atomic<Entry*>& bucket =
        buckets_[std::hash<std::string_view>()(text) % (sizeof buckets_ / sizeof buckets_[0])];
    Entry* first = bucket.load(std::memory_order_acquire);
    if (const Entry* known = Search(first, nullptr, text)) return &known->name;
    Entry* mine = NewEntry(text);
    if (mine == nullptr) return g_counters.Add(Health::kNvtxClipped), nullptr;
    mine->next = first;
    mine->name.id = count_.fetch_add(1, std::memory_order_relaxed) + 1;
    while (!bucket.compare_exchange_weak(mine->next, mine, std::memory_order_acq_rel)) {
      // Somebody else added to the list: the same name, perhaps. Ours then stays unused.
      if (const Entry* known = Search(mine->next, first, text)) return &known->name;
      first = mine->next;
    }
    return &mine->name;
  }

 private:
  struct Entry {
    NvtxName name;
    Entry* next;
  };

  static Entry* NewEntry(std::string_view text) {
    char* copy = strndup(text.data(), text.size());
    if (copy == nullptr) return nullptr;
    auto* entry = new (std::nothrow) Entry{{0, text == "NCCL", copy}, nullptr};
    if (entry == nullptr) std::free(copy);
    return entry;
  }

  static const Entry* Search(const Entry* entry, const Entry* end, std::string_view text) {
    while (entry != end && text != entry->name.text) entry = entry->next;
    return entry == end ? nullptr : entry;
  }

  std::atomic<Entry*> buckets_[1024] = {};
  std::atomic<std::uint32_t> count_{0};
};

constinit RegisteredNames g_domains;
constinit RegisteredNames g_strings;

void AppendUtf8(const wchar_t* wide, std::string* text) {
  for (; wide != nullptr && *wide != 0; ++wide) {
    const auto code = static_cast<std::uint32_t>(*wide);
    if (code < 0x80) {
      *text += static_cast<char>(code);
    } else if (code < 0x800) {
      *text += static_cast<char>(0xC0 | code >> 6);
      *text += static_cast<char>(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
      *text += static_cast<char>(0xE0 | code >> 12);
      *text += static_cast<char>(0x80 | (code >> 6 & 0x3F));
      *text += static_cast<char>(0x80 | (code & 0x3F));
    } else {
      *text += static_cast<char>(0xF0 | (code >> 18 & 7));
      *text += static_cast<char>(0x80 | (code >> 12 & 0x3F));
      *text += static_cast<char>(0x80 | (code >> 6 & 0x3F));
      *text += static_cast<char>(0x80 | (code & 0x3F));
    }
  }
}

// As much as there is memory for.
std::string Utf8(const wchar_t* wide) {
  std::string text;
  try {
    AppendUtf8(wide, &text);
  } catch (const std::bad_alloc&) {
    g_counters.Add(Health::kNvtxClipped);
  }
  return text;
}

// What an event carries beside its time, gathered from the attributes before room in the ring is
// asked for.
struct Content {
  std::string_view text;
  bool has_text = false;
  const NvtxName* registered = nullptr;
  NvtxPayloadType payload_type = NvtxPayloadType::kNone;
  std::uint64_t payload = 0;
  const void* payload_data = nullptr;
  std::size_t payload_bytes = 0;
  std::uint32_t color = 0, category = 0;
  bool has_color = false;
  std::uint64_t id = 0;
};

template <typename Value>
std::uint64_t Bits(Value value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

void TakeExtendedPayload(const nvtxPayloadData_t* payloads, std::size_t count, Content* content) {
  if (payloads == nullptr || count == 0) return;
  content->payload_type = NvtxPayloadType::kExtended;
  content->payload = payloads[0].schemaId;
  content->payload_data = payloads[0].payload;
  content->payload_bytes = payloads[0].payload == nullptr ? 0 : payloads[0].size;
  // The program leaves it to the tool to find out the size: we know no schemas, and must not read
  // beyond its end.
  if (content->payload_bytes == SIZE_MAX) {
    content->payload_bytes = 0;
    g_counters.Add(Health::kNvtxClipped);
  }
}

// At most kMaxNvtxText bytes, without half a UTF-8 character at the end.
std::size_t ClippedLength(std::string_view text) {
  if (text.size() <= kMaxNvtxText) return text.size();
  std::size_t length = kMaxNvtxText;
  while (length > kMaxNvtxText - 4 && (text[length] & 0xC0) == 0x80) --length;
  return length;
}

// The numbers 0xDFBD0009 and its use of reserved0 are those of nvToolsExtPayload.h.
void TakePayload(const nvtxEventAttributes_t& event, Content* content) {
  switch (static_cast<std::uint32_t>(event.payloadType)) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
      content->payload_type = NvtxPayloadType::kUnsigned, content->payload = event.payload.ullValue;
      break;
    case NVTX_PAYLOAD_TYPE_INT64:
      content->payload_type = NvtxPayloadType::kSigned,
      content->payload = Bits(event.payload.llValue);
      break;
    case NVTX_PAYLOAD_TYPE_DOUBLE:
      content->payload_type = NvtxPayloadType::kReal, content->payload = Bits(event.payload.dValue);
      break;
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
      content->payload_type = NvtxPayloadType::kUnsigned, content->payload = event.payload.uiValue;
      break;
    case NVTX_PAYLOAD_TYPE_INT32:
      content->payload_type = NvtxPayloadType::kSigned,
      content->payload = Bits(std::int64_t{event.payload.iValue});
      break;
    case NVTX_PAYLOAD_TYPE_FLOAT:
      content->payload_type = NvtxPayloadType::kReal,
      content->payload = Bits(static_cast<double>(event.payload.fValue));
      break;
    case static_cast<std::uint32_t>(NVTX_PAYLOAD_TYPE_EXT):
      TakeExtendedPayload(reinterpret_cast<const nvtxPayloadData_t*>(event.payload.ullValue),
                          static_cast<std::size_t>(event.reserved0), content);
      break;
    default:
      break;
  }
}

// Attributes of older versions of NVTX are shorter but have all that is read here. `wide` keeps
// converted text alive.
Content ContentOf(const nvtxEventAttributes_t* event, std::string* wide) {
  Content content;
  if (event == nullptr) return content;
  content.category = event->category;
  if (event->colorType == NVTX_COLOR_ARGB) content.has_color = true, content.color = event->color;
  switch (event->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      if (event->message.ascii != nullptr)
        content.has_text = true, content.text = event->message.ascii;
      break;
    case NVTX_MESSAGE_TYPE_UNICODE:
      content.has_text = true, *wide = Utf8(event->message.unicode), content.text = *wide;
      break;
    case NVTX_MESSAGE_TYPE_REGISTERED:
      content.registered = reinterpret_cast<const NvtxName*>(event->message.registered);
      content.has_text = content.registered != nullptr;
      break;
    default:
      break;
  }
  TakePayload(*event, &content);
  return content;
}

void Emit(EventType type, nvtxDomainHandle_t domain, const Content& content) {
  const std::int64_t now = NowNs();
  std::size_t text_bytes = content.registered != nullptr ? 0 : content.text.size();
  std::size_t payload_bytes = content.payload_bytes;
  if (text_bytes > kMaxNvtxText || payload_bytes > kMaxNvtxPayload) {
    g_counters.Add(Health::kNvtxClipped);
    text_bytes = ClippedLength({content.text.data(), text_bytes});
    payload_bytes = std::min(payload_bytes, kMaxNvtxPayload);
  }
  const auto size = static_cast<std::uint32_t>(sizeof(NvtxEvent) + (text_bytes + 7) / 8 * 8 +
                                               (payload_bytes + 7) / 8 * 8);
  Ring* ring = g_rings.OfThisThread();
  auto* event = ring == nullptr ? nullptr : static_cast<NvtxEvent*>(ring->Reserve(size));
  if (event == nullptr) {
    g_counters.AddLost(Health::kNvtxSeen, Health::kNvtxDropped);
    t_lost = t_lost || type == EventType::kNvtxPush || type == EventType::kNvtxPop;
    return;
  }
  event->header = {size, static_cast<std::uint16_t>(type),
                   t_lost ? kNvtxAfterLoss : std::uint16_t{0}, now};
  t_lost = false;
  event->domain = reinterpret_cast<const NvtxName*>(domain);
  event->registered = content.registered;
  event->id = content.id;
  event->payload = content.payload;
  event->color = content.color;
  event->category = content.category;
  event->text_bytes = static_cast<std::uint16_t>(text_bytes);
  event->payload_bytes = static_cast<std::uint16_t>(payload_bytes);
  event->payload_type = content.payload_type;
  event->has_text = content.has_text;
  event->has_color = content.has_color;
  event->reserved = 0;
  auto* bytes = reinterpret_cast<std::uint8_t*>(event + 1);
  if (text_bytes != 0) std::memcpy(bytes, content.text.data(), text_bytes);
  if (payload_bytes != 0)
    std::memcpy(bytes + (text_bytes + 7) / 8 * 8, content.payload_data, payload_bytes);
  ring->Publish(&g_wake);
}

// Names are told at any time, as is what NCCL does: that its communicators are made must not be
// missed.
bool IsWanted(EventType type, nvtxDomainHandle_t domain) {
  if (!Recording()) return false;
  g_safe_point.Pass();
  if (Delivers(Source::kProgram) || type > EventType::kNvtxMark) return true;
  const auto* name = reinterpret_cast<const NvtxName*>(domain);
  return name != nullptr && name->is_nccl;
}

void EmitAttributes(EventType type, nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event,
                    std::uint64_t id = 0) {
  if (!IsWanted(type, domain)) return;
  const OwnCost cost(Health::kNvtxOwnNs);
  std::string wide;
  Content content = ContentOf(event, &wide);
  content.id = id;
  Emit(type, domain, content);
}

void EmitText(EventType type, nvtxDomainHandle_t domain, std::string_view text,
              std::uint64_t id = 0) {
  if (!IsWanted(type, domain)) return;
  const OwnCost cost(Health::kNvtxOwnNs);
  Content content;
  content.text = text;
  content.has_text = true;
  content.id = id;
  Emit(type, domain, content);
}

void EmitPayload(EventType type, nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads,
                 std::size_t count, std::uint64_t id = 0) {
  if (!IsWanted(type, domain)) return;
  const OwnCost cost(Health::kNvtxOwnNs);
  Content content;
  TakeExtendedPayload(payloads, count, &content);
  content.id = id;
  Emit(type, domain, content);
}

std::string_view View(const char* text) { return text == nullptr ? "" : text; }
std::uint64_t NewRange() { return g_next_range.fetch_add(1, std::memory_order_relaxed); }

// Programs get the address of the name as an opaque handle.
template <typename Opaque>
Opaque Handle(const NvtxName* name) {
  return reinterpret_cast<Opaque>(const_cast<NvtxName*>(name));
}

// The level of a push or pop: we keep none on the program's thread. 0 is a legal level.
constexpr int kLevel = 0;

// Core functions, without a domain.
void NVTX_API MarkEx(const nvtxEventAttributes_t* event) {
  EmitAttributes(EventType::kNvtxMark, nullptr, event);
}
void NVTX_API MarkA(const char* text) { EmitText(EventType::kNvtxMark, nullptr, View(text)); }
void NVTX_API MarkW(const wchar_t* text) { EmitText(EventType::kNvtxMark, nullptr, Utf8(text)); }
nvtxRangeId_t NVTX_API RangeStartEx(const nvtxEventAttributes_t* event) {
  const std::uint64_t id = NewRange();
  return EmitAttributes(EventType::kNvtxStart, nullptr, event, id), id;
}
nvtxRangeId_t NVTX_API RangeStartA(const char* text) {
  const std::uint64_t id = NewRange();
  return EmitText(EventType::kNvtxStart, nullptr, View(text), id), id;
}
nvtxRangeId_t NVTX_API RangeStartW(const wchar_t* text) {
  const std::uint64_t id = NewRange();
  return EmitText(EventType::kNvtxStart, nullptr, Utf8(text), id), id;
}
void NVTX_API RangeEnd(nvtxRangeId_t id) {
  EmitAttributes(EventType::kNvtxEnd, nullptr, nullptr, id);
}
int NVTX_API RangePushEx(const nvtxEventAttributes_t* event) {
  return EmitAttributes(EventType::kNvtxPush, nullptr, event), kLevel;
}
int NVTX_API RangePushA(const char* text) {
  return EmitText(EventType::kNvtxPush, nullptr, View(text)), kLevel;
}
int NVTX_API RangePushW(const wchar_t* text) {
  return EmitText(EventType::kNvtxPush, nullptr, Utf8(text)), kLevel;
}
int NVTX_API RangePop() { return EmitAttributes(EventType::kNvtxPop, nullptr, nullptr), kLevel; }
void NVTX_API NameCategoryA(std::uint32_t category, const char* text) {
  EmitText(EventType::kNvtxNameCategory, nullptr, View(text), category);
}
void NVTX_API NameCategoryW(std::uint32_t category, const wchar_t* text) {
  EmitText(EventType::kNvtxNameCategory, nullptr, Utf8(text), category);
}
void NVTX_API NameOsThreadA(std::uint32_t tid, const char* text) {
  EmitText(EventType::kNvtxNameThread, nullptr, View(text), tid);
}
void NVTX_API NameOsThreadW(std::uint32_t tid, const wchar_t* text) {
  EmitText(EventType::kNvtxNameThread, nullptr, Utf8(text), tid);
}

// Names of CUDA's things. A stream is one of the calling thread's context; where there is none, the
// name is lost.
void NameStream(void* stream, std::string_view text) {
  if (!Recording()) return;
  const StreamId id = LookUpStream(stream, false);
  if (!id.known) return;
  EmitText(EventType::kNvtxNameStream, nullptr, text, std::uint64_t{id.context} << 32 | id.stream);
}
void NVTX_API NameStreamA(void* stream, const char* text) { NameStream(stream, View(text)); }
void NVTX_API NameStreamW(void* stream, const wchar_t* text) { NameStream(stream, Utf8(text)); }
void NVTX_API NameDeviceA(int device, const char* text) {
  EmitText(EventType::kNvtxNameDevice, nullptr, View(text), static_cast<std::uint64_t>(device));
}
void NVTX_API NameDeviceW(int device, const wchar_t* text) {
  EmitText(EventType::kNvtxNameDevice, nullptr, Utf8(text), static_cast<std::uint64_t>(device));
}

// Core functions with a domain.
void NVTX_API DomainMarkEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  EmitAttributes(EventType::kNvtxMark, domain, event);
}
nvtxRangeId_t NVTX_API DomainRangeStartEx(nvtxDomainHandle_t domain,
                                          const nvtxEventAttributes_t* event) {
  const std::uint64_t id = NewRange();
  return EmitAttributes(EventType::kNvtxStart, domain, event, id), id;
}
void NVTX_API DomainRangeEnd(nvtxDomainHandle_t domain, nvtxRangeId_t id) {
  EmitAttributes(EventType::kNvtxEnd, domain, nullptr, id);
}
int NVTX_API DomainRangePushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return EmitAttributes(EventType::kNvtxPush, domain, event), kLevel;
}
int NVTX_API DomainRangePop(nvtxDomainHandle_t domain) {
  return EmitAttributes(EventType::kNvtxPop, domain, nullptr), kLevel;
}
void NVTX_API DomainNameCategoryA(nvtxDomainHandle_t domain, std::uint32_t category,
                                  const char* text) {
  EmitText(EventType::kNvtxNameCategory, domain, View(text), category);
}
void NVTX_API DomainNameCategoryW(nvtxDomainHandle_t domain, std::uint32_t category,
                                  const wchar_t* text) {
  EmitText(EventType::kNvtxNameCategory, domain, Utf8(text), category);
}
nvtxStringHandle_t NVTX_API DomainRegisterStringA(nvtxDomainHandle_t, const char* text) {
  return Handle<nvtxStringHandle_t>(g_strings.Find(View(text)));
}
nvtxStringHandle_t NVTX_API DomainRegisterStringW(nvtxDomainHandle_t, const wchar_t* text) {
  return Handle<nvtxStringHandle_t>(g_strings.Find(Utf8(text)));
}
nvtxDomainHandle_t NVTX_API DomainCreateA(const char* name) {
  return Handle<nvtxDomainHandle_t>(g_domains.Find(View(name)));
}
nvtxDomainHandle_t NVTX_API DomainCreateW(const wchar_t* name) {
  return Handle<nvtxDomainHandle_t>(g_domains.Find(Utf8(name)));
}
void NVTX_API DomainDestroy(nvtxDomainHandle_t) {}

// The payload extension.
int NVTX_API RangePushPayload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads,
                              std::size_t count) {
  return EmitPayload(EventType::kNvtxPush, domain, payloads, count), kLevel;
}
int NVTX_API RangePopPayload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads,
                             std::size_t count) {
  return EmitPayload(EventType::kNvtxPop, domain, payloads, count), kLevel;
}
nvtxRangeId_t NVTX_API RangeStartPayload(nvtxDomainHandle_t domain,
                                         const nvtxPayloadData_t* payloads, std::size_t count) {
  const std::uint64_t id = NewRange();
  return EmitPayload(EventType::kNvtxStart, domain, payloads, count, id), id;
}
void NVTX_API RangeEndPayload(nvtxDomainHandle_t domain, nvtxRangeId_t id,
                              const nvtxPayloadData_t* payloads, std::size_t count) {
  EmitPayload(EventType::kNvtxEnd, domain, payloads, count, id);
}
void NVTX_API MarkPayload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads,
                          std::size_t count) {
  EmitPayload(EventType::kNvtxMark, domain, payloads, count);
}
// Programs choose static ids below 2^32 for their schemas (NCCL does); others get one above.
std::uint64_t NVTX_API PayloadSchemaRegister(nvtxDomainHandle_t,
                                             const nvtxPayloadSchemaAttr_t* schema) {
  static std::atomic<std::uint64_t> next{NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START};
  const bool has_id =
      schema != nullptr && (schema->fieldMask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID) != 0;
  return has_id && schema->schemaId != 0 ? schema->schemaId : next.fetch_add(1);
}
std::uint64_t NVTX_API PayloadEnumRegister(nvtxDomainHandle_t,
                                           const nvtxPayloadEnumAttr_t* values) {
  static std::atomic<std::uint64_t> next{NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START};
  const bool has_id =
      values != nullptr && (values->fieldMask & NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID) != 0;
  return has_id && values->schemaId != 0 ? values->schemaId : next.fetch_add(1);
}

struct Slot {
  std::uint32_t id;
  NvtxFunctionPointer function;
};

template <typename Function>
NvtxFunctionPointer Erase(Function* function) {
  return reinterpret_cast<NvtxFunctionPointer>(function);
}

void Fill(const NvtxExportTableCallbacks* table, NvtxCallbackModule module, const Slot* slots,
          std::size_t count) {
  NvtxFunctionTable functions = nullptr;
  unsigned int size = 0;
  if (table->GetModuleFunctionTable(module, &functions, &size) == 0 || functions == nullptr) return;
  for (std::size_t i = 0; i < count; ++i) {
    if (slots[i].id < size && functions[slots[i].id] != nullptr)
      *functions[slots[i].id] = slots[i].function;
  }
}

bool FillCallbacks(NvtxGetExportTableFunc_t get_export_table) {
  const auto* table =
      static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  if (table == nullptr || table->GetModuleFunctionTable == nullptr) return false;
  const Slot core[] = {
      {NVTX_CBID_CORE_MarkEx, Erase(MarkEx)},
      {NVTX_CBID_CORE_MarkA, Erase(MarkA)},
      {NVTX_CBID_CORE_MarkW, Erase(MarkW)},
      {NVTX_CBID_CORE_RangeStartEx, Erase(RangeStartEx)},
      {NVTX_CBID_CORE_RangeStartA, Erase(RangeStartA)},
      {NVTX_CBID_CORE_RangeStartW, Erase(RangeStartW)},
      {NVTX_CBID_CORE_RangeEnd, Erase(RangeEnd)},
      {NVTX_CBID_CORE_RangePushEx, Erase(RangePushEx)},
      {NVTX_CBID_CORE_RangePushA, Erase(RangePushA)},
      {NVTX_CBID_CORE_RangePushW, Erase(RangePushW)},
      {NVTX_CBID_CORE_RangePop, Erase(RangePop)},
      {NVTX_CBID_CORE_NameCategoryA, Erase(NameCategoryA)},
      {NVTX_CBID_CORE_NameCategoryW, Erase(NameCategoryW)},
      {NVTX_CBID_CORE_NameOsThreadA, Erase(NameOsThreadA)},
      {NVTX_CBID_CORE_NameOsThreadW, Erase(NameOsThreadW)},
  };
  const Slot core2[] = {
      {NVTX_CBID_CORE2_DomainMarkEx, Erase(DomainMarkEx)},
      {NVTX_CBID_CORE2_DomainRangeStartEx, Erase(DomainRangeStartEx)},
      {NVTX_CBID_CORE2_DomainRangeEnd, Erase(DomainRangeEnd)},
      {NVTX_CBID_CORE2_DomainRangePushEx, Erase(DomainRangePushEx)},
      {NVTX_CBID_CORE2_DomainRangePop, Erase(DomainRangePop)},
      {NVTX_CBID_CORE2_DomainNameCategoryA, Erase(DomainNameCategoryA)},
      {NVTX_CBID_CORE2_DomainNameCategoryW, Erase(DomainNameCategoryW)},
      {NVTX_CBID_CORE2_DomainRegisterStringA, Erase(DomainRegisterStringA)},
      {NVTX_CBID_CORE2_DomainRegisterStringW, Erase(DomainRegisterStringW)},
      {NVTX_CBID_CORE2_DomainCreateA, Erase(DomainCreateA)},
      {NVTX_CBID_CORE2_DomainCreateW, Erase(DomainCreateW)},
      {NVTX_CBID_CORE2_DomainDestroy, Erase(DomainDestroy)},
  };
  const Slot driver[] = {
      {NVTX_CBID_CUDA_NameCuDeviceA, Erase(NameDeviceA)},
      {NVTX_CBID_CUDA_NameCuDeviceW, Erase(NameDeviceW)},
      {NVTX_CBID_CUDA_NameCuStreamA, Erase(NameStreamA)},
      {NVTX_CBID_CUDA_NameCuStreamW, Erase(NameStreamW)},
  };
  const Slot runtime[] = {
      {NVTX_CBID_CUDART_NameCudaDeviceA, Erase(NameDeviceA)},
      {NVTX_CBID_CUDART_NameCudaDeviceW, Erase(NameDeviceW)},
      {NVTX_CBID_CUDART_NameCudaStreamA, Erase(NameStreamA)},
      {NVTX_CBID_CUDART_NameCudaStreamW, Erase(NameStreamW)},
  };
  Fill(table, NVTX_CB_MODULE_CUDA, driver, sizeof driver / sizeof driver[0]);
  Fill(table, NVTX_CB_MODULE_CUDART, runtime, sizeof runtime / sizeof runtime[0]);
  Fill(table, NVTX_CB_MODULE_CORE, core, sizeof core / sizeof core[0]);
  Fill(table, NVTX_CB_MODULE_CORE2, core2, sizeof core2 / sizeof core2[0]);
  return true;
}

bool FillPayloadExtension(const nvtxExtModuleInfo_t* module) {
  if (module == nullptr || module->moduleId != NVTX_EXT_PAYLOAD_MODULEID) return false;
  const struct {
    std::size_t id;
    intptr_t function;
  } slots[] = {
      {NVTX3EXT_CBID_nvtxPayloadSchemaRegister, reinterpret_cast<intptr_t>(PayloadSchemaRegister)},
      {NVTX3EXT_CBID_nvtxPayloadEnumRegister, reinterpret_cast<intptr_t>(PayloadEnumRegister)},
      {NVTX3EXT_CBID_nvtxMarkPayload, reinterpret_cast<intptr_t>(MarkPayload)},
      {NVTX3EXT_CBID_nvtxRangePushPayload, reinterpret_cast<intptr_t>(RangePushPayload)},
      {NVTX3EXT_CBID_nvtxRangePopPayload, reinterpret_cast<intptr_t>(RangePopPayload)},
      {NVTX3EXT_CBID_nvtxRangeStartPayload, reinterpret_cast<intptr_t>(RangeStartPayload)},
      {NVTX3EXT_CBID_nvtxRangeEndPayload, reinterpret_cast<intptr_t>(RangeEndPayload)},
  };
  for (std::size_t s = 0; s < module->segmentsCount; ++s) {
    const nvtxExtModuleSegment_t& segment = module->segments[s];
    if (segment.segmentId != 0) continue;
    for (const auto& slot : slots) {
      if (slot.id < segment.slotCount) segment.functionSlots[slot.id] = slot.function;
    }
  }
  return true;
}

}  // namespace
}  // namespace traceinject

using traceinject::FillCallbacks;
using traceinject::FillPayloadExtension;

// The environment may name us although this process switches NVTX off, or is none of ours.
static bool Wanted() {
  return traceinject::g_state.load(std::memory_order_relaxed) != traceinject::State::kOutside &&
         !traceinject::IsSwitchedOff("TRACEINJECT") &&
         !traceinject::IsSwitchedOff("TRACEINJECT_NVTX");
}

// A result of 0 makes the module go on without NVTX.
extern "C" TRACEINJECT_EXPORT int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_export_table) {
  return Wanted() && get_export_table != nullptr && FillCallbacks(get_export_table) ? 1 : 0;
}

extern "C" TRACEINJECT_EXPORT int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  return Wanted() && FillPayloadExtension(module) ? 1 : 0;
}
