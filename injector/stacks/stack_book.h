// SPDX-License-Identifier: Apache-2.0
// The books of the stacks that were read: texts and places, each once, and the stacks as a tree.
// One thread at a time.
//
// They are forgotten when they grow too large: ids hold until Forget().
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "injector/rows/dictionary.h"
#include "injector/stacks/code_object.h"
#include "injector/stacks/module_names.h"

namespace traceinject {

// A place as the rows have it; texts by their numbers here.
struct BookedPlace {
  std::uint32_t function, file;
  std::int64_t line, first_line;
};

class StackBook {
 public:
  // Beyond it wants to be forgotten, and takes twice as much at most.
  static constexpr std::size_t kMaxCodes = 50'000, kMaxNodes = 500'000;

  // What the frames of one process are read by. All outlive this.
  struct Source {
    const ProcessMemory* memory;
    const PythonLayout* layout;
    const PythonTypes* types;
    // Tells the code objects of processes apart: those of one have their addresses in common.
    std::uint64_t number = 0;
  };

  // A frame that the interpreter put between those of the program: it is on no stack.
  static constexpr std::uint32_t kHidden = UINT32_MAX;

  // The module of PyTorch in whose call the frames of a stack are that were booked so far, from the
  // outermost one on; a stack begins with an empty one.
  struct WithinModule {
    std::uint64_t object = 0;
    std::uint32_t path = 0;  // a text
    bool is_call = false;    // the last frame was its call

    std::uint32_t called() const { return is_call ? path : 0; }
  };

  // The place of a frame of which `words` were just read. 0: it is none, or no more what it was.
  std::uint32_t Place(const Source& source, const RawFrame& frame, const CodeWords& words,
                      WithinModule* within);
  // The same where only CodeWords::Check() is known, from a moment ago: reads the words.
  std::uint32_t PlaceOfCheck(const Source& source, const RawFrame& frame, std::uint32_t check,
                             WithinModule* within);

  // A frame at `place`, called from the stack `parent`; 0: the outermost. `module`: the text of
  // the one that it is the call of; 0: of none. 0: there is no room.
  std::uint32_t Node(std::uint32_t parent, std::uint32_t place, std::uint32_t module);

  // The place of a function of machine code.
  std::uint32_t PlaceOfFunction(const std::string& function, const std::string& file) {
    return AddPlace({Text(function), Text(file), 0, 0});
  }

  bool IsFull() const { return codes_.size() > kMaxCodes || nodes_.size() > kMaxNodes; }
  void Forget();

  // Into the tables: stack.id of a node. O(frames) the first time in a flush of the writer.
  std::uint32_t Row(std::uint32_t node, Dictionary* dictionary);

 private:
  struct Code {
    CodeWords words;
    std::uint32_t function = 0, file = 0;
    bool is_hidden = false;
    bool calls_module = false;
    std::string lines;
    std::unordered_map<std::int64_t, std::uint32_t> places;  // by offset
  };
  struct NodeKey {
    std::uint32_t parent, place, module;
  };

  std::uint32_t Text(const std::string& text);
  std::uint32_t AddPlace(const BookedPlace& place);
  void Enter(const Source& source, std::uint64_t object, WithinModule* within);
  Code* KnownCode(const Source& source, std::uint64_t code, const CodeWords& words);
  static std::string ReadTextOr(const Source& source, std::uint64_t text);

  std::vector<std::string> texts_{std::string()};  // masked
  std::unordered_map<std::string, std::uint32_t> text_ids_;
  ModuleNames modules_;
  std::vector<BookedPlace> places_{BookedPlace{}};
  std::unordered_map<IntegerKey<4>, std::uint32_t, BytesHash<IntegerKey<4>>> place_ids_;
  std::vector<NodeKey> nodes_{NodeKey{}};
  std::unordered_map<IntegerKey<3>, std::uint32_t, BytesHash<IntegerKey<3>>> node_ids_;
  std::unordered_map<IntegerKey<2>, Code, BytesHash<IntegerKey<2>>>
      codes_;                           // by source and address
  std::vector<std::uint32_t> row_ids_;  // of nodes, in this flush; 0: not asked for
  std::uint32_t rows_flush_ = 0;
};

}  // namespace traceinject
