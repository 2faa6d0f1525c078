// SPDX-License-Identifier: Apache-2.0
// libcupti.so.{12,13}: the functions that a client of the activity API uses, with the signatures of
// the CUPTI headers.
#include <cupti.h>

#include <atomic>
#include <string>

#include "tests/fake_gpu/libraries/callback_names.h"
#include "tests/fake_gpu/libraries/cupti_records.h"
#include "tests/fake_gpu/libraries/cupti_session.h"
#include "tests/fake_gpu/libraries/failing_calls.h"
#include "tests/fake_gpu/simulator/settings.h"
#include "tests/fake_gpu/simulator/simulator.h"

#define EXPORT extern "C" __attribute__((visibility("default")))
#define FAIL_IF_ASKED() \
  if (fake::Fails(__func__)) return CUPTI_ERROR_UNKNOWN
// Of all functions but those that only tell of the library itself.
#define ENTER()    \
  FAIL_IF_ASKED(); \
  CuptiSession::Get().Attach(__func__)

namespace {

namespace fake = traceinject::fake;
using fake::CuptiSession;

std::atomic<bool> subscribed{false};

const fake::Context* ContextOf(CUcontext context) {
  return reinterpret_cast<const fake::Context*>(context);
}

CUptiResult StreamId(CUcontext context, CUstream stream, std::uint32_t* id) {
  if (id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const fake::Context* owner = ContextOf(context);
  const bool is_default = reinterpret_cast<std::uintptr_t>(stream) <= 2;
  if (is_default && owner != nullptr) {
    *id = owner->default_stream.id;
    return CUPTI_SUCCESS;
  }
  const fake::Stream* resolved = fake::ResolveStream(stream);
  if (resolved == nullptr) return CUPTI_ERROR_INVALID_CONTEXT;
  if (owner != nullptr && owner->id != resolved->context) return CUPTI_ERROR_INVALID_STREAM;
  *id = resolved->id;
  return CUPTI_SUCCESS;
}

}  // namespace

EXPORT CUptiResult cuptiGetVersion(std::uint32_t* version) {
  FAIL_IF_ASKED();
  *version = CuptiSession::Get().version();
  return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiGetTimestamp(std::uint64_t* timestamp) {
  ENTER();
  *timestamp = CuptiSession::Get().Now();
  return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc callback) {
  ENTER();
  CuptiSession::Get().SetClock(callback);
  return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                                  CUpti_BuffersCallbackCompleteFunc complete) {
  ENTER();
  return CuptiSession::Get().RegisterCallbacks(request, complete);
}

EXPORT CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  ENTER();
  return CuptiSession::Get().SetKind(kind, true);
}

EXPORT CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  ENTER();
  return CuptiSession::Get().SetKind(kind, false);
}

#ifdef FAKE_CUPTI_HAS_CALL_SELECTION
EXPORT CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId id, std::uint8_t enable) {
  ENTER();
  return CuptiSession::Get().SetCall(fake::Domain::kRuntime, id, enable != 0);
}

EXPORT CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId id, std::uint8_t enable) {
  ENTER();
  return CuptiSession::Get().SetCall(fake::Domain::kDriver, id, enable != 0);
}
#endif

EXPORT CUptiResult cuptiActivityFlushAll(std::uint32_t flag) {
  ENTER();
  return CuptiSession::Get().FlushAll((flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0);
}

// Full buffers whose work is complete always come back by themselves; there is no period to set.
EXPORT CUptiResult cuptiActivityFlushPeriod(std::uint32_t) {
  ENTER();
  return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid_bytes,
                                              CUpti_Activity** record) {
  ENTER();
  if (buffer == nullptr || record == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const std::uint32_t version = CuptiSession::Get().version();
  std::size_t offset = 0;
  if (*record != nullptr) {
    offset = static_cast<std::size_t>(reinterpret_cast<std::uint8_t*>(*record) - buffer) +
             fake::RecordSize((*record)->kind, version);
  }
  if (offset + sizeof(CUpti_Activity) > valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  auto* next = reinterpret_cast<CUpti_Activity*>(buffer + offset);
  if (fake::RecordSize(next->kind, version) == 0) return CUPTI_ERROR_INVALID_KIND;
  *record = next;
  return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t,
                                                     std::size_t* dropped) {
  ENTER();
  if (dropped == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *dropped = CuptiSession::Get().TakeDropped();
  return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, std::size_t* size,
                                             void* value) {
  ENTER();
  if (size == nullptr || value == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (attribute == CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER) {
    CuptiSession::Get().SetPerThreadBuffers(*static_cast<std::uint8_t*>(value) != 0);
  }
  return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityGetAttribute(CUpti_ActivityAttribute attribute, std::size_t* size,
                                             void* value) {
  ENTER();
  if (size == nullptr || value == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (attribute != CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER || *size < 1) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  *static_cast<std::uint8_t*>(value) = CuptiSession::Get().per_thread_buffers() ? 1 : 0;
  *size = 1;
  return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  ENTER();
  CuptiSession::Get().SetSystemThreadIds(type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiGetThreadIdType(CUpti_ActivityThreadIdType* type) {
  ENTER();
  *type = CuptiSession::Get().system_thread_ids() ? CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM
                                                  : CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT;
  return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, std::uint32_t id,
                                        const char** name) {
  ENTER();
  *name = fake::CallbackName(domain, id);
  return *name != nullptr ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

EXPORT CUptiResult cuptiGetContextId(CUcontext context, std::uint32_t* id) {
  ENTER();
  if (context == nullptr || id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *id = ContextOf(context)->id;
  return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiGetDeviceId(CUcontext context, std::uint32_t* id) {
  ENTER();
  const fake::Context* asked = context != nullptr ? ContextOf(context) : fake::CurrentContext();
  if (asked == nullptr) return CUPTI_ERROR_INVALID_CONTEXT;
  *id = asked->device;
  return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiGetStreamId(CUcontext context, CUstream stream, std::uint32_t* id) {
  ENTER();
  return StreamId(context, stream, id);
}

EXPORT CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, std::uint8_t,
                                      std::uint32_t* id) {
  ENTER();
  return StreamId(context, stream, id);
}

EXPORT CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  FAIL_IF_ASKED();
  switch (result) {
    case CUPTI_SUCCESS:
      *text = "CUPTI_SUCCESS";
      break;
    case CUPTI_ERROR_INVALID_PARAMETER:
      *text = "CUPTI_ERROR_INVALID_PARAMETER";
      break;
    case CUPTI_ERROR_INVALID_KIND:
      *text = "CUPTI_ERROR_INVALID_KIND";
      break;
    case CUPTI_ERROR_OUT_OF_MEMORY:
      *text = "CUPTI_ERROR_OUT_OF_MEMORY";
      break;
    case CUPTI_ERROR_NOT_INITIALIZED:
      *text = "CUPTI_ERROR_NOT_INITIALIZED";
      break;
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      *text = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
      break;
    case CUPTI_ERROR_HARDWARE_BUSY:
      *text = "CUPTI_ERROR_HARDWARE_BUSY";
      break;
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
      *text = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES";
      break;
    default:
      *text = "CUPTI_ERROR_UNKNOWN";
  }
  return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                                  void* data) {
  ENTER();
  if (fake::SettingNumber("FAKE_CUPTI_SUBSCRIBER_TAKEN", 0) != 0 ||
      !CuptiSession::Get().Attach(__func__) || subscribed.exchange(true)) {
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  }
  *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&subscribed);
  CuptiSession::Get().SetSubscriber(callback, data);
  return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) {
  ENTER();
  CuptiSession::Get().SetSubscriber(nullptr, nullptr);
  subscribed = false;
  return CUPTI_SUCCESS;
}

// Of single driver calls.
EXPORT CUptiResult cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle,
                                       CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  ENTER();
  if (domain != CUPTI_CB_DOMAIN_DRIVER_API) return CUPTI_ERROR_INVALID_PARAMETER;
  return CuptiSession::Get().EnableCallback(id, enable != 0);
}

EXPORT CUptiResult cuptiFinalize() {
  FAIL_IF_ASKED();
  CuptiSession::Get().SetSubscriber(nullptr, nullptr);
  subscribed = false;
  CuptiSession::Get().Finalize();
  return CUPTI_SUCCESS;
}
