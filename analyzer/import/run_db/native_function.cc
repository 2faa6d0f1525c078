// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/run_db/native_function.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace traceinject {
namespace {

constexpr std::size_t kLongestFunction = 80;

// Of a demangled name, what follows the parameters.
constexpr std::array<std::string_view, 4> kQualifiers = {" const", " volatile", " &", " &&"};

constexpr std::array<std::string_view, 20> kLibraryScopes = {
    "std::",     "__gnu_cxx::", "thrust::",   "cub::",           "cuda::",
    "cutlass::", "cute::",      "at::",       "c10::",           "torch::",
    "cudart::",  "Eigen::",     "pybind11::", "__device_stub__", "__wrapper",
    "__cuda",    "__nv_",       "__libc_",    "_start",          "__static_initialization"};
// C interfaces, whose functions go on with a capital letter: cudaMalloc, ncclAllReduce.
constexpr std::array<std::string_view, 7> kLibraryPrefixes = {"cuda",  "cublas", "cudnn",   "nccl",
                                                              "cufft", "curand", "cusparse"};

constexpr std::array<std::string_view, 9> kLibraryFolders = {
    "/lib/",        "/lib64/",         "/usr/lib/",   "/usr/lib64/", "/usr/local/cuda",
    "/opt/nvidia/", "/opt/conda/lib/", "/opt/intel/", "/opt/amazon/"};
constexpr std::array<std::string_view, 49> kLibraryFiles = {
    "ld-linux",       "libasan",     "libc-",       "libc.",         "libc10",
    "libcaffe2",      "libcublas",   "libcuda",     "libcudnn",      "libcufft",
    "libcupti",       "libcurand",   "libcusolver", "libcusparse",   "libcutensor",
    "libdl-",         "libdl.",      "libfabric",   "libgcc_s",      "libgomp",
    "libiomp5",       "libjemalloc", "libm-",       "libm.",         "libmkl",
    "libmpi",         "libnccl",     "libnvJit",    "libnvToolsExt", "libnvidia",
    "libnvinfer",     "libnvrtc",    "libnvshmem",  "libomp.",       "libonnxruntime",
    "libopen-pal",    "libopenblas", "libpthread",  "libpython",     "librt-",
    "librt.",         "libstdc++",   "libtcmalloc", "libtensorflow", "libtorch",
    "libtraceinject", "libtsan",     "libucp",      "python"};

template <typename Names>
bool BeginsWithAny(std::string_view text, const Names& names) {
  return std::any_of(names.begin(), names.end(),
                     [text](std::string_view name) { return text.starts_with(name); });
}

bool Opens(char letter) { return letter == '<' || letter == '(' || letter == '{'; }
bool Closes(char letter) { return letter == '>' || letter == ')' || letter == '}'; }

std::string_view WithoutQualifiers(std::string_view name) {
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (const std::string_view qualifier : kQualifiers) {
      if (!name.ends_with(qualifier)) continue;
      name.remove_suffix(qualifier.size());
      goes_on = true;
    }
  }
  return name;
}

std::string_view WithoutArgumentList(std::string_view name) {
  const std::string_view unqualified = WithoutQualifiers(name);
  if (!unqualified.ends_with(')')) return name;
  int open = 0;
  for (std::size_t at = unqualified.size(); at-- > 0;) {
    if (unqualified[at] == ')') ++open;
    if (unqualified[at] == '(' && --open == 0) return at == 0 ? name : unqualified.substr(0, at);
  }
  return name;
}

// Templates tell it: "void fill<float>". The names of operators have spaces, too.
std::string_view WithoutResult(std::string_view name) {
  const std::size_t end = std::min(name.find("operator"), name.size());
  int open = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < end; ++at) {
    if (Opens(name[at])) ++open;
    if (Closes(name[at])) --open;
    if (name[at] == ' ' && open == 0) begin = at + 1;
  }
  return name.substr(begin);
}

std::string WithoutTemplateArguments(std::string_view name) {
  std::string text;
  int open = 0;
  for (const char letter : name) {
    if (letter == '<' && ++open == 1) text += "<...>";
    if (open == 0) text += letter;
    if (letter == '>') --open;
  }
  return open == 0 ? text : std::string(name);
}

}  // namespace

std::string ShortFunction(std::string_view demangled) {
  static constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  std::string name(WithoutResult(WithoutArgumentList(demangled)));
  for (std::size_t at = name.find(kUnnamed); at != std::string::npos; at = name.find(kUnnamed))
    name.erase(at, kUnnamed.size());
  if (name.empty()) return std::string(demangled);
  const bool is_operator = name.find("operator") != std::string::npos;
  return name.size() <= kLongestFunction || is_operator ? name : WithoutTemplateArguments(name);
}

bool IsLibraryFunction(std::string_view name) {
  if (BeginsWithAny(name, kLibraryScopes)) return true;
  return std::any_of(kLibraryPrefixes.begin(), kLibraryPrefixes.end(),
                     [&](std::string_view prefix) {
                       return name.starts_with(prefix) && name.size() > prefix.size() &&
                              std::isupper(static_cast<unsigned char>(name[prefix.size()])) != 0;
                     });
}

bool IsLibraryObject(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  const bool is_shared = file.find(".so") != std::string_view::npos;
  if (BeginsWithAny(file, kLibraryFiles)) return is_shared || file.starts_with("python");
  return is_shared && (BeginsWithAny(path, kLibraryFolders) ||
                       path.find("-packages/") != std::string_view::npos);
}

}  // namespace traceinject
