// SPDX-License-Identifier: Apache-2.0
#include "injector/cuda/driver.h"

#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <string>

#include "injector/base/loaded_libraries.h"

// cuda.h renames some functions to their newest version; symbols are looked up by the names spelled
// here.
#undef cuDeviceTotalMem
#undef cuDeviceGetUuid

namespace traceinject {
namespace {

template <typename Function>
Function Find(void* library, const char* name) {
  return library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
}

struct Driver {
  void* library = OpenLoaded("libcuda.so");
  CUresult (*DeviceGetCount)(int*) = Find<CUresult (*)(int*)>(library, "cuDeviceGetCount");
  CUresult (*DeviceGet)(CUdevice*, int) = Find<CUresult (*)(CUdevice*, int)>(library,
                                                                             "cuDeviceGet");
  CUresult (*DeviceGetName)(char*, int,
                            CUdevice) = Find<CUresult (*)(char*, int, CUdevice)>(library,
                                                                                 "cuDeviceGetName");
  CUresult (*DeviceGetAttribute)(int*, CUdevice_attribute, CUdevice) =
      Find<CUresult (*)(int*, CUdevice_attribute, CUdevice)>(library, "cuDeviceGetAttribute");
  CUresult (*DeviceGetUuid)(CUuuid*,
                            CUdevice) = Find<CUresult (*)(CUuuid*, CUdevice)>(library,
                                                                              "cuDeviceGetUuid_v2");
  CUresult (*DeviceGetPCIBusId)(char*, int, CUdevice) =
      Find<CUresult (*)(char*, int, CUdevice)>(library, "cuDeviceGetPCIBusId");
  CUresult (*DeviceTotalMem)(std::size_t*, CUdevice) =
      Find<CUresult (*)(std::size_t*, CUdevice)>(library, "cuDeviceTotalMem_v2");
  CUresult (*DriverGetVersion)(int*) = Find<CUresult (*)(int*)>(library, "cuDriverGetVersion");
  CUresult (*DevicePrimaryCtxGetState)(CUdevice, unsigned int*, int*) =
      Find<CUresult (*)(CUdevice, unsigned int*, int*)>(library, "cuDevicePrimaryCtxGetState");

  std::vector<CUdevice> Devices() const {
    std::vector<CUdevice> devices;
    int count = 0;
    if (DeviceGetCount == nullptr || DeviceGet == nullptr || DeviceGetCount(&count) != CUDA_SUCCESS)
      return devices;
    for (int i = 0; i < count; ++i) {
      CUdevice device;
      if (DeviceGet(&device, i) == CUDA_SUCCESS) devices.push_back(device);
    }
    return devices;
  }

  int Attribute(CUdevice_attribute attribute, CUdevice device) const {
    int value = -1;
    if (DeviceGetAttribute == nullptr ||
        DeviceGetAttribute(&value, attribute, device) != CUDA_SUCCESS)
      return -1;
    return value;
  }
};

// MIG instances print as MIG-, which only the driver's own tools know; the bytes identify the card
// either way.
std::string UuidText(const CUuuid& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    text += digits;
    if (i == 3 || i == 5 || i == 7 || i == 9) text += '-';
  }
  return text;
}

DeviceRow ReadDevice(const Driver& driver, int ordinal, CUdevice device) {
  DeviceRow row{};
  row.device = ordinal;
  char text[256] = {};
  if (driver.DeviceGetName != nullptr &&
      driver.DeviceGetName(text, sizeof text - 1, device) == CUDA_SUCCESS)
    row.name = text;
  CUuuid uuid{};
  if (driver.DeviceGetUuid != nullptr && driver.DeviceGetUuid(&uuid, device) == CUDA_SUCCESS)
    row.uuid = UuidText(uuid);
  if (driver.DeviceGetPCIBusId != nullptr &&
      driver.DeviceGetPCIBusId(text, sizeof text - 1, device) == CUDA_SUCCESS) {
    row.pci_bus_id = text;
  }
  row.sm_count = driver.Attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
  row.cc_major = driver.Attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  row.cc_minor = driver.Attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  row.sm_clock_khz = driver.Attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE, device);
  row.memory_clock_khz = driver.Attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, device);
  row.memory_bus_bits = driver.Attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, device);
  row.l2_bytes = driver.Attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device);
  row.memory_bytes = -1;
  std::size_t bytes = 0;
  if (driver.DeviceTotalMem != nullptr && driver.DeviceTotalMem(&bytes, device) == CUDA_SUCCESS) {
    row.memory_bytes = static_cast<std::int64_t>(bytes);
  }
  return row;
}

int VersionBy(void* library, const char* function) {
  int version = -1;
  auto get = Find<int (*)(int*)>(library, function);
  return get != nullptr && get(&version) == 0 ? version : -1;
}

}  // namespace

std::vector<DeviceRow> ReadDevices() {
  const Driver driver;
  std::vector<DeviceRow> rows;
  for (CUdevice device : driver.Devices())
    rows.push_back(ReadDevice(driver, static_cast<int>(rows.size()), device));
  return rows;
}

void ReadVersions(ProcessRow* facts) {
  facts->driver_version = VersionBy(OpenLoaded("libcuda.so"), "cuDriverGetVersion");
  facts->runtime_version = VersionBy(OpenLoaded("libcudart.so"), "cudaRuntimeGetVersion");
  facts->nccl_version = VersionBy(OpenLoaded("libnccl.so"), "ncclGetVersion");
}

bool UsePrimaryContext(int device) {
  const Driver driver;
  const auto retain =
      Find<CUresult (*)(CUcontext*, CUdevice)>(driver.library, "cuDevicePrimaryCtxRetain");
  const auto release = Find<CUresult (*)(CUdevice)>(driver.library, "cuDevicePrimaryCtxRelease_v2");
  const auto use = Find<CUresult (*)(CUcontext)>(driver.library, "cuCtxSetCurrent");
  const std::vector<CUdevice> devices = driver.Devices();
  unsigned int flags = 0;
  int active = 0;
  if (device < 0 || static_cast<std::size_t>(device) >= devices.size() || retain == nullptr ||
      release == nullptr || use == nullptr || driver.DevicePrimaryCtxGetState == nullptr)
    return false;
  const CUdevice handle = devices[static_cast<std::size_t>(device)];
  CUcontext context = nullptr;
  if (driver.DevicePrimaryCtxGetState(handle, &flags, &active) != CUDA_SUCCESS || active == 0 ||
      retain(&context, handle) != CUDA_SUCCESS)
    return false;
  const bool used = use(context) == CUDA_SUCCESS;
  release(handle);  // it lives as long as the program wants it
  return used;
}

void CountDevices() {
  static const Driver driver;
  int count = 0;
  if (driver.DeviceGetCount != nullptr) driver.DeviceGetCount(&count);
}

bool HasActiveContext() {
  const Driver driver;
  if (driver.DevicePrimaryCtxGetState == nullptr) return false;
  for (CUdevice device : driver.Devices()) {
    unsigned int flags = 0;
    int active = 0;
    if (driver.DevicePrimaryCtxGetState(device, &flags, &active) == CUDA_SUCCESS && active != 0)
      return true;
  }
  return false;
}

}  // namespace traceinject
