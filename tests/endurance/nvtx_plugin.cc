// SPDX-License-Identifier: Apache-2.0
// A library that uses NVTX, which chaos_program.py opens and closes: what the recorder was told of
// it, such as its texts and the table of its functions, goes with it.
#include <nvtx3/nvToolsExt.h>

extern "C" void plugin_ranges(int count) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("plugin");
  const nvtxStringHandle_t name = nvtxDomainRegisterStringA(domain, "registered by a plugin");
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = name;
  for (int i = 0; i < count; ++i) {
    nvtxDomainRangePushEx(domain, &attributes);
    nvtxRangePushA("of a plugin");
    nvtxRangePop();
    nvtxDomainRangePop(domain);
  }
}
