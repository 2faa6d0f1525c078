// SPDX-License-Identifier: Apache-2.0
// A small file of machine code with symbols and unwind tables, for the target "object".
extern "C" int fuzz_object_leaf(int number) { return number + 1; }

extern "C" int fuzz_object_caller(int (*call)(int)) {
  volatile int words[16] = {};
  words[3] = call(words[2]);
  return fuzz_object_leaf(words[3]);
}
