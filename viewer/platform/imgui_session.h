// SPDX-License-Identifier: Apache-2.0
#pragma once

struct ImGuiContext;

namespace traceinject {

// Dear ImGui from here to the end of its scope: a context without a settings file, our look, a font
// (DejaVu Sans where it is installed, else the built-in one). Of several on a thread the one that
// was made last is current, until another is made so.
class ImGuiSession {
 public:
  explicit ImGuiSession(float scale);
  ~ImGuiSession();
  ImGuiSession(const ImGuiSession&) = delete;
  ImGuiSession& operator=(const ImGuiSession&) = delete;

  void MakeCurrent() const;

 private:
  ImGuiContext* context_;
};

}  // namespace traceinject
