// SPDX-License-Identifier: Apache-2.0
#include "viewer/platform/window.h"

#define GLFW_INCLUDE_NONE
#include <GL/gl.h>
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <cstdlib>
#include <memory>
#include <utility>

#include "viewer/core/timeline/input_queue.h"
#include "viewer/platform/imgui_input.h"
#include "viewer/platform/imgui_session.h"

namespace traceinject {
namespace {

constexpr int kWidth = 1600, kHeight = 900;
// What moves by itself is progress only: ten times a second leaves the processors to the reading.
constexpr double kMovingWaitS = 0.1, kIdleWaitS = 1;
// ImGui needs a few frames to settle after an input: what is hovered is known one frame later.
constexpr int kFramesAfterInput = 3;

struct KeyMapping {
  int glfw;
  Key key;
};
// Those that give no character of their own; letters and digits are found by their order.
constexpr KeyMapping kKeys[] = {
    {GLFW_KEY_LEFT, Key::kLeft},
    {GLFW_KEY_RIGHT, Key::kRight},
    {GLFW_KEY_UP, Key::kUp},
    {GLFW_KEY_DOWN, Key::kDown},
    {GLFW_KEY_PAGE_UP, Key::kPageUp},
    {GLFW_KEY_PAGE_DOWN, Key::kPageDown},
    {GLFW_KEY_HOME, Key::kHome},
    {GLFW_KEY_ENTER, Key::kEnter},
    {GLFW_KEY_KP_ENTER, Key::kEnter},
    {GLFW_KEY_ESCAPE, Key::kEscape},
    {GLFW_KEY_BACKSPACE, Key::kBackspace},
    {GLFW_KEY_DELETE, Key::kDelete},
    {GLFW_KEY_TAB, Key::kTab},
    {GLFW_KEY_F1, Key::kF1},
    {GLFW_KEY_C, Key::kC},
    {GLFW_KEY_H, Key::kH},
    {GLFW_KEY_K, Key::kK},
    {GLFW_KEY_P, Key::kP},
    {GLFW_KEY_T, Key::kT},
};

Key KeyAt(Key first, int offset) { return static_cast<Key>(static_cast<int>(first) + offset); }

Key KeyOf(int glfw_key) {
  if (glfw_key >= GLFW_KEY_A && glfw_key <= GLFW_KEY_Z) {
    return KeyAt(Key::kA, glfw_key - GLFW_KEY_A);
  }
  if (glfw_key >= GLFW_KEY_0 && glfw_key <= GLFW_KEY_9) {
    return KeyAt(Key::k0, glfw_key - GLFW_KEY_0);
  }
  for (const KeyMapping& mapping : kKeys) {
    if (mapping.glfw == glfw_key) return mapping.key;
  }
  return Key::kNoKey;
}

// What the window's callbacks leave for the next frames.
struct Pending {
  InputQueue input;
  bool repeating = false;  // the last key is held down: the character that follows repeats too
  std::vector<std::string> dropped;
  int frames = kFramesAfterInput;  // still to draw
};

Pending& PendingOf(GLFWwindow* window) {
  return *static_cast<Pending*>(glfwGetWindowUserPointer(window));
}

// On either side of the keyboard.
Modifiers HeldIn(GLFWwindow* window) {
  const auto down = [window](int left, int right) {
    return glfwGetKey(window, left) == GLFW_PRESS || glfwGetKey(window, right) == GLFW_PRESS;
  };
  return {down(GLFW_KEY_LEFT_CONTROL, GLFW_KEY_RIGHT_CONTROL),
          down(GLFW_KEY_LEFT_SHIFT, GLFW_KEY_RIGHT_SHIFT),
          down(GLFW_KEY_LEFT_ALT, GLFW_KEY_RIGHT_ALT)};
}

void OnKey(GLFWwindow* window, int glfw_key, int, int action, int modifiers) {
  Pending& pending = PendingOf(window);
  pending.frames = kFramesAfterInput;
  pending.input.Hold(HeldIn(window));
  if (action == GLFW_RELEASE) return;
  pending.repeating = action == GLFW_REPEAT;
  const Key key = KeyOf(glfw_key);
  if (key == Key::kNoKey) return;
  const auto held = [modifiers](int modifier) { return (modifiers & modifier) != 0; };
  pending.input.Press(
      {key, {held(GLFW_MOD_CONTROL), held(GLFW_MOD_SHIFT), held(GLFW_MOD_ALT)}, pending.repeating});
}

// By character, because where ? is differs between keyboards.
void OnCharacter(GLFWwindow* window, unsigned character) {
  Pending& pending = PendingOf(window);
  if (const auto key = KeyOfCharacter(character)) {
    pending.input.Press({*key, {}, pending.repeating});
  }
}

// Dropped again before the next frame: the last one counts.
void OnDrop(GLFWwindow* window, int count, const char** paths) {
  Pending& pending = PendingOf(window);
  pending.dropped.assign(paths, paths + count);
  pending.frames = kFramesAfterInput;
}

void Wake(GLFWwindow* window) { PendingOf(window).frames = kFramesAfterInput; }

void OnMove(GLFWwindow* window, double x, double y) {
  PendingOf(window).input.Move({static_cast<float>(x), static_cast<float>(y)});
  Wake(window);
}

void OnEnterOrLeave(GLFWwindow* window, int entered) {
  if (entered == GLFW_FALSE) {
    PendingOf(window).input.Move(kNoPlace);
    return Wake(window);
  }
  double x = 0, y = 0;
  glfwGetCursorPos(window, &x, &y);
  OnMove(window, x, y);
}

void OnButton(GLFWwindow* window, int button, int action, int) {
  PendingOf(window).input.Set({static_cast<std::size_t>(button), action == GLFW_PRESS});
  Wake(window);
}

void OnScroll(GLFWwindow* window, double x, double y) {
  PendingOf(window).input.Turn({static_cast<float>(y), static_cast<float>(x)});
  Wake(window);
}

// Before ImGui's back end installs its own, which call these.
void InstallCallbacks(GLFWwindow* window) {
  glfwSetKeyCallback(window, OnKey);
  glfwSetCharCallback(window, OnCharacter);
  glfwSetCursorPosCallback(window, OnMove);
  glfwSetCursorEnterCallback(window, OnEnterOrLeave);
  glfwSetMouseButtonCallback(window, OnButton);
  glfwSetScrollCallback(window, OnScroll);
  glfwSetFramebufferSizeCallback(window, [](GLFWwindow* w, int, int) { Wake(w); });
  glfwSetWindowRefreshCallback(window, Wake);
  glfwSetDropCallback(window, OnDrop);
}

Error GlfwError(const std::string& what) {
  const char* reason = nullptr;
  glfwGetError(&reason);
  return Error{what + (reason != nullptr ? std::string(": ") + reason : std::string()) +
               ". A window needs GLFW 3 (Debian: libglfw3) and an X11 or Wayland display with "
               "OpenGL 3.3; without them, --screenshot FILE.png draws into a picture."};
}

struct GlfwLibrary {
  ~GlfwLibrary() { glfwTerminate(); }
};

struct WindowCloser {
  void operator()(GLFWwindow* window) const { glfwDestroyWindow(window); }
};

struct Backends {
  explicit Backends(GLFWwindow* window) {
    ImGui_ImplGlfw_InitForOpenGL(window, true);
    ImGui_ImplOpenGL3_Init("#version 150");
  }
  ~Backends() {
    ImGui_ImplOpenGL3_Shutdown();
    ImGui_ImplGlfw_Shutdown();
  }
  Backends(const Backends&) = delete;
  Backends& operator=(const Backends&) = delete;
};

WindowNext DrawFrame(GLFWwindow* window, Pending& pending, WindowContent& content) {
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  FrameInput input = pending.input.Next();
  TellImGui(input);
  if (!pending.input.empty()) pending.frames = kFramesAfterInput;
  ImGui::NewFrame();
  const WindowNext next =
      content.Frame({std::move(input.keys), std::exchange(pending.dropped, {})});
  ImGui::Render();
  int width = 0, height = 0;
  glfwGetFramebufferSize(window, &width, &height);
  glViewport(0, 0, width, height);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  glfwSwapBuffers(window);
  return next;
}

}  // namespace

bool HasDisplay() {
  for (const char* const name : {"DISPLAY", "WAYLAND_DISPLAY"}) {
    const char* const display = std::getenv(name);
    if (display != nullptr && *display != 0) return true;
  }
  return false;
}

Status RunWindow(WindowContent& content, std::optional<float> scale) {
  if (glfwInit() == GLFW_FALSE) return GlfwError("Cannot open a window");
  const GlfwLibrary library;
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
  std::string title = content.title();
  const std::unique_ptr<GLFWwindow, WindowCloser> window(
      glfwCreateWindow(kWidth, kHeight, title.c_str(), nullptr, nullptr));
  if (!window) return GlfwError("Cannot open a window");
  glfwMakeContextCurrent(window.get());
  glfwSwapInterval(1);
  Pending pending;
  glfwSetWindowUserPointer(window.get(), &pending);
  InstallCallbacks(window.get());

  float screen_scale = 1, scale_y = 1;
  glfwGetWindowContentScale(window.get(), &screen_scale, &scale_y);
  const ImGuiSession imgui(scale.value_or(screen_scale));
  const Backends backends(window.get());
  WindowNext next = WindowNext::kKeepDrawing;
  while (glfwWindowShouldClose(window.get()) == GLFW_FALSE && next != WindowNext::kClose) {
    if (pending.frames > 0) {
      --pending.frames;
      glfwPollEvents();
    } else {
      glfwWaitEventsTimeout(next == WindowNext::kKeepDrawing ? kMovingWaitS : kIdleWaitS);
    }
    next = DrawFrame(window.get(), pending, content);
    if (content.title() == title) continue;
    title = content.title();
    glfwSetWindowTitle(window.get(), title.c_str());
  }
  return Done{};
}

}  // namespace traceinject
