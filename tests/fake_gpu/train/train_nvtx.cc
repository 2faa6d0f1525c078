// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_gpu/train/train_nvtx.h"

#include <nvtx3/nvToolsExtPayload.h>
#include <unistd.h>

#include "tests/fake_gpu/simulator/clock.h"

namespace traceinject::fake {
namespace {

// An event's attributes with the storage that they point to.
struct Attributes {
  nvtxEventAttributes_t nvtx{};
  nvtxPayloadData_t payload{};
  std::wstring wide;

  Attributes(const NvtxEvent& event, nvtxDomainHandle_t domain, std::uint64_t schema) {
    nvtx.version = NVTX_VERSION;
    nvtx.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    SetMessage(event, domain);
    nvtx.category = event.category;
    if (event.color != 0) {
      nvtx.colorType = NVTX_COLOR_ARGB;
      nvtx.color = event.color;
    }
    if (event.has_integer) {
      nvtx.payloadType = NVTX_PAYLOAD_TYPE_INT64;
      nvtx.payload.llValue = event.integer;
    } else if (event.has_real) {
      nvtx.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
      nvtx.payload.dValue = event.real;
    } else if (event.has_bytes) {
      NVTX_PAYLOAD_EVTATTR_SET_DATA(nvtx, &payload, schema, event.bytes.data(), event.bytes.size());
    }
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;

  void SetMessage(const NvtxEvent& event, nvtxDomainHandle_t domain) {
    if (event.registered) {
      nvtx.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
      nvtx.message.registered = nvtxDomainRegisterStringA(domain, event.text.c_str());
    } else if (event.wide) {
      wide.assign(event.text.begin(), event.text.end());
      nvtx.messageType = NVTX_MESSAGE_TYPE_UNICODE;
      nvtx.message.unicode = wide.c_str();
    } else {
      nvtx.messageType = NVTX_MESSAGE_TYPE_ASCII;
      nvtx.message.ascii = event.text.c_str();
    }
  }
};

std::uint64_t RegisterSchema(nvtxDomainHandle_t domain) {
  static const nvtxPayloadSchemaEntry_t kEntries[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "first", nullptr, 0, 0, nullptr, nullptr}};
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = kEntries;
  schema.numEntries = 1;
  schema.payloadStaticSize = 8;
  return nvtxPayloadSchemaRegister(domain, &schema);
}

std::string Hex(const std::string& bytes) {
  static const char kDigits[] = "0123456789abcdef";
  std::string text;
  for (char c : bytes) {
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[c & 0xf];
  }
  return text;
}

}  // namespace

NvtxDomain::NvtxDomain(std::string name) : name_(std::move(name)) {
  if (name_.empty()) return;
  handle_ = nvtxDomainCreateA(name_.c_str());
  schema_ = RegisterSchema(handle_);
}

void NvtxDomain::NameCategory(std::uint32_t category, const char* name) {
  if (handle_ == nullptr) {
    nvtxNameCategoryA(category, name);
  } else {
    nvtxDomainNameCategoryA(handle_, category, name);
  }
  TruthLine("category")
      .Text("domain", name_)
      .Number("category", category)
      .Text("name", name)
      .Write();
}

TruthLine NvtxDomain::Line(NvtxKind kind, const NvtxEvent& event) const {
  TruthLine line("nvtx");
  line.Number("kind", static_cast<int>(kind)).Text("domain", name_).Text("text", event.text);
  if (event.category != 0) line.Number("category", event.category);
  if (event.color != 0) line.Number("color", event.color);
  if (event.has_integer) line.Number("integer", event.integer);
  if (event.has_real) line.Real("real", event.real);
  if (event.has_bytes) line.Text("bytes", Hex(event.bytes));
  return line;
}

void NvtxDomain::Push(const NvtxEvent& event, const std::function<void()>& body) {
  const Attributes attributes(event, handle_, schema_);
  const std::int64_t start_before = NowNs();
  nvtxDomainRangePushEx(handle_, &attributes.nvtx);
  const std::int64_t start_after = NowNs();
  body();
  const std::int64_t end_before = NowNs();
  nvtxDomainRangePop(handle_);
  Line(NvtxKind::kPushPop, event)
      .Number("start_before", start_before)
      .Number("start_after", start_after)
      .Number("end_before", end_before)
      .Number("end_after", NowNs())
      .Number("tid", gettid())
      .Write();
}

void NvtxDomain::LeaveOpen(const NvtxEvent& event) {
  const Attributes attributes(event, handle_, schema_);
  const std::int64_t start_before = NowNs();
  nvtxDomainRangePushEx(handle_, &attributes.nvtx);
  Line(NvtxKind::kPushPop, event)
      .Number("start_before", start_before)
      .Number("start_after", NowNs())
      .Number("tid", gettid())
      .Bool("open", true)
      .Write();
}

void NvtxDomain::Mark(const NvtxEvent& event) {
  const Attributes attributes(event, handle_, schema_);
  const std::int64_t before = NowNs();
  nvtxDomainMarkEx(handle_, &attributes.nvtx);
  const std::int64_t after = NowNs();
  Line(NvtxKind::kMark, event)
      .Number("start_before", before)
      .Number("start_after", after)
      .Number("end_before", before)
      .Number("end_after", after)
      .Number("tid", gettid())
      .Write();
}

NvtxDomain::Started NvtxDomain::Start(const NvtxEvent& event) {
  const Attributes attributes(event, handle_, schema_);
  Started started;
  started.event = event;
  started.tid = gettid();
  started.before_ns = NowNs();
  started.id = nvtxDomainRangeStartEx(handle_, &attributes.nvtx);
  started.after_ns = NowNs();
  return started;
}

void NvtxDomain::End(const Started& started) {
  const std::int64_t end_before = NowNs();
  nvtxDomainRangeEnd(handle_, started.id);
  Line(NvtxKind::kStartEnd, started.event)
      .Number("start_before", started.before_ns)
      .Number("start_after", started.after_ns)
      .Number("end_before", end_before)
      .Number("end_after", NowNs())
      .Number("tid", started.tid)
      .Write();
}

}  // namespace traceinject::fake
