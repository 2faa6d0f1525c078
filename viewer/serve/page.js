// SPDX-License-Identifier: Apache-2.0
"use strict";
const canvas = document.getElementById("screen"), keyboard = document.getElementById("keyboard");
const note = document.getElementById("note"), gate = document.getElementById("gate");
const UNITS_PER_PX = 16, WORDS = 4;  // of a vertex: x, y, texel, color
const LEFT = 0, RIGHT = 1, MIDDLE = 2;
const TAP_PX = 8, LONG_PRESS_MS = 500, TWICE_MS = 400, ZOOM_STEP = 1.25, LINK_EVERY_MS = 400;
const CURSORS = ["none", "default", "text", "move", "ns-resize", "ew-resize", "nesw-resize", "nwse-resize", "pointer", "not-allowed"];

// ---- What comes: numbers, then frames

class Reader {
  constructor(bytes) { this.bytes = bytes; this.at = 0; }
  number() {
    let value = 0, shift = 0, byte;
    do {
      byte = this.bytes[this.at++];
      value |= (byte & 127) << shift;
      shift += 7;
    } while (byte & 128);
    return value >>> 0;
  }
  signed() {
    const bits = this.number();
    return (bits >>> 1) ^ -(bits & 1);
  }
  rest() { return this.bytes.subarray(this.at); }
  text() { return new TextDecoder().decode(this.rest()); }
}

// `before` with what stays of it at both ends and room for what is new between.
function keep(reader, before, words, make) {
  const first = reader.number() * words, last = reader.number() * words, count = reader.number();
  const now = make(first + count * words + last);
  now.set(before.subarray(0, first));
  now.set(before.subarray(before.length - last), now.length - last);
  return [now, first, count];
}

function readVertices(reader, before) {
  const [now, first, count] = keep(reader, before, WORDS, (size) => new Uint32Array(size));
  const places = new Float32Array(now.buffer), end = first + count * WORDS;
  for (let axis = 0; axis < 2; ++axis) {
    for (let at = first + axis, value = 0; at < end; at += WORDS) {
      value = (value + reader.signed()) | 0;
      places[at] = value / UNITS_PER_PX;
    }
  }
  for (let half = 0; half < 2; ++half) {
    for (let at = first + 2, value = 0; at < end; at += WORDS) {
      value = (value + reader.signed()) | 0;
      now[at] |= value << (16 * half);
    }
  }
  for (let at = first + 3, color = 0; at < end; at += WORDS) now[at] = color ^= reader.number();
  return now;
}

function readIndices(reader, before) {
  const [now, first, count] = keep(reader, before, 1, (size) => new Uint32Array(size));
  for (let at = first, value = 0; at < first + count; ++at) now[at] = value = (value + reader.signed()) | 0;
  return now;
}

function readCommands(reader) {
  const commands = [];
  for (let left = reader.number(); left > 0; --left) {
    commands.push({box: [reader.signed(), reader.signed(), reader.signed(), reader.signed()], indices: reader.number()});
  }
  return commands;
}

const NOTHING = {vertices: new Uint32Array(0), indices: new Uint32Array(0)};
function readFrame(reader, before) {
  const frame = {width: reader.number(), height: reader.number(), cursor: reader.number(), wantsText: reader.number() !== 0, lists: []};
  const count = reader.number();
  for (let i = 0; i < count; ++i) {
    const known = before.lists[i] ?? NOTHING;
    frame.lists.push({vertices: readVertices(reader, known.vertices), indices: readIndices(reader, known.indices),
                      commands: readCommands(reader)});
  }
  return frame;
}

// ---- Drawing

// What is kept between frames stays readable: for pictures.
const gl = canvas.getContext("webgl2", {alpha: false, antialias: false, depth: false, preserveDrawingBuffer: true});

function shader(kind, text) {
  const made = gl.createShader(kind);
  gl.shaderSource(made, "#version 300 es\nprecision highp float;\n" + text);
  gl.compileShader(made);
  return made;
}

let toScreen;
function prepare() {
  const program = gl.createProgram();
  gl.attachShader(program, shader(gl.VERTEX_SHADER, `
    layout(location = 0) in vec2 place; layout(location = 1) in vec2 texel; layout(location = 2) in vec4 color;
    uniform vec2 to_screen; out vec2 at; out vec4 tint;
    void main() { at = texel; tint = color; gl_Position = vec4(place * to_screen + vec2(-1, 1), 0, 1); }`));
  gl.attachShader(program, shader(gl.FRAGMENT_SHADER, `
    in vec2 at; in vec4 tint; uniform sampler2D font; out vec4 pixel;
    void main() { pixel = vec4(tint.rgb, tint.a * texture(font, at).r); }`));
  gl.linkProgram(program);
  gl.useProgram(program);
  toScreen = gl.getUniformLocation(program, "to_screen");
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
  gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 16, 0);
  gl.vertexAttribPointer(1, 2, gl.UNSIGNED_SHORT, true, 16, 8);
  gl.vertexAttribPointer(2, 4, gl.UNSIGNED_BYTE, true, 16, 12);
  for (const attribute of [0, 1, 2]) gl.enableVertexAttribArray(attribute);
  gl.enable(gl.BLEND);
  gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  gl.enable(gl.SCISSOR_TEST);
}

function setFont(reader) {
  const width = reader.number(), height = reader.number();
  gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
  gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.R8, width, height, 0, gl.RED, gl.UNSIGNED_BYTE, reader.rest());
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.LINEAR);
}

function draw(frame) {
  if (canvas.width !== frame.width) canvas.width = frame.width;
  if (canvas.height !== frame.height) canvas.height = frame.height;
  gl.viewport(0, 0, frame.width, frame.height);
  gl.scissor(0, 0, frame.width, frame.height);
  gl.clearColor(0, 0, 0, 1);
  gl.clear(gl.COLOR_BUFFER_BIT);
  gl.uniform2f(toScreen, 2 / frame.width, -2 / frame.height);
  for (const list of frame.lists) {
    gl.bufferData(gl.ARRAY_BUFFER, list.vertices, gl.STREAM_DRAW);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, list.indices, gl.STREAM_DRAW);
    let at = 0;
    for (const {box: [left, top, right, bottom], indices} of list.commands) {
      if (right > left && bottom > top) {
        gl.scissor(left, frame.height - bottom, right - left, bottom - top);
        gl.drawElements(gl.TRIANGLES, indices, gl.UNSIGNED_INT, at * 4);
      }
      at += indices;
    }
  }
}

// ---- What goes: events, in order

let socket = null, said = false, pending = [], flushAt = 0, held = 0;
const encoder = new TextEncoder();

const byte = (value) => [value & 255];
const short = (value) => [value & 255, (value >> 8) & 255];
const word = (value) => [...new Uint8Array(Uint32Array.of(value).buffer)];
const float = (value) => [...new Uint8Array(Float32Array.of(value).buffer)];
const text = (value, most = 4096) => {
  const bytes = encoder.encode(value).subarray(0, most);
  return [...short(bytes.length), ...bytes];
};
const place = ([x, y]) => [...float(x), ...float(y)];
const Told = {
  hello: (token, link) => [0, ...text(token), ...size(), matchMedia("(prefers-color-scheme: light)").matches ? 0 : 1, ...text(link)],
  screen: () => [1, ...size()],
  seen: (frame) => [2, ...word(frame)],
  link: (link) => [3, ...text(link)],
  hold: (bits) => [4, ...byte(bits)],
  move: (at) => [5, ...place(at)],
  leave: () => [6],
  button: (button, down, twice) => [7, button, down ? (twice ? 2 : 1) : 0],
  wheel: (y, x) => [8, ...float(y), ...float(x)],
  key: (bits, name, typed) => [9, bits, ...text(name), ...text(typed)],
  text: (typed) => [10, ...text(typed)],
  finger: (down, at) => [11, down ? 1 : 0, ...place(at)],
  state: (state) => [12, ...text(state, 32768)],
};

function flush() {
  cancelAnimationFrame(flushAt);
  flushAt = 0;
  if (pending.length === 0) return;
  if (socket?.readyState === WebSocket.OPEN && said) socket.send(Uint8Array.from(pending.flat()));
  pending = [];
}
function tell(...events) {
  pending.push(...events);
  flush();
}
// What comes faster than frames do is told once a frame.
function tellSoon(event) {
  if (event[0] === 5 && pending.at(-1)?.[0] === 5) pending.pop();
  pending.push(event);
  if (!flushAt) flushAt = requestAnimationFrame(flush);
}
function hold(bits) {
  if (bits === held) return;
  held = bits;
  pending.push(Told.hold(bits));
}

// ---- The connection

let link = "", state = "", linkAt = 0, frame = {lists: []}, number = 0, isShown = false, drawAt = 0, retryMs = 0, noteAt = 0;

function takeAddress() {
  const parts = location.hash.slice(1).split("&"), token = parts.find((part) => part.startsWith("token="));
  link = parts.filter((part) => part && part !== token).join("&");
  if (token) setToken(decodeURIComponent(token.slice(6)));
  showLink();
}
// Kept for this address alone, so that links, which do not hold it, work in other tabs.
let tokenHere = "";
function setToken(token) {
  tokenHere = token;
  try { localStorage.setItem("traceview token", token); } catch { /* it is kept in this tab only */ }
}
function getToken() {
  try { return localStorage.getItem("traceview token") ?? tokenHere; } catch { return tokenHere; }
}

function say(words, forMs = 0) {
  note.textContent = words;
  clearTimeout(noteAt);
  if (forMs) noteAt = setTimeout(() => { note.textContent = ""; }, forMs);
}

function connect() {
  gate.hidden = true;
  const address = new URL("viewer", location.href.split("#")[0]);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  const mine = socket = new WebSocket(address);
  said = false;
  mine.binaryType = "arraybuffer";
  mine.onopen = () => {
    frame = {lists: []};
    held = 0;
    pending = [];
    mine.send(Uint8Array.from([...Told.hello(getToken(), link), ...Told.state(state)]));
    said = true;
  };
  mine.onmessage = (message) => { if (mine === socket) take(new Uint8Array(message.data)); };
  mine.onclose = (closed) => { if (mine === socket) gone(closed.reason); };
}

function gone(reason) {
  isShown = false;
  canvas.classList.add("stale");
  if (reason === "token") {
    say("");
    gate.hidden = false;
    document.getElementById("token").focus();
    return;
  }
  say(`${reason ? `The connection has ended: ${reason}.` : "The server does not answer."} Trying again; it is started with traceview --serve.`);
  retryMs = Math.min(retryMs * 2 || 250, 4000);
  setTimeout(connect, retryMs);
}

function take(bytes) {
  const reader = new Reader(bytes);
  const part = reader.number();
  if (part === 0) takeFrame(reader);
  else if (part === 1) setFont(reader);
  else if (part === 2) takeLink(reader.text());
  else if (part === 3) copy(reader.text());
  else if (part === 4) document.title = reader.text();
  else if (part === 5) command(reader.text());
  else if (part === 6) state = reader.text();
}

function takeFrame(reader) {
  number = reader.number();
  reader.number();  // how long it took there
  frame = readFrame(reader, frame);
  if (!drawAt) drawAt = requestAnimationFrame(show);
}

function show() {
  drawAt = 0;
  if (gl.isContextLost()) return;
  draw(frame);
  canvas.style.cursor = CURSORS[frame.cursor] ?? "default";
  canvas.dataset.frame = number;
  if (!isShown) say("");
  isShown = true;
  canvas.classList.remove("stale");
  retryMs = 0;
  tell(Told.seen(number));
  if (frame.wantsText && lastTouch) keyboard.focus({preventScroll: true});
  else if (document.activeElement === keyboard && !frame.wantsText) keyboard.blur();
}

// Browsers allow only so many changes of the address a minute.
function takeLink(now) {
  link = now;
  if (!linkAt) linkAt = setTimeout(showLink, LINK_EVERY_MS);
}
function showLink() {
  clearTimeout(linkAt);
  linkAt = 0;
  history.replaceState(null, "", location.pathname + location.search + (link ? "#" + link : ""));
}

function copy(words) {
  const byHand = () => {
    const field = document.createElement("textarea");
    field.value = words;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
    canvas.focus();
  };
  if (navigator.clipboard) navigator.clipboard.writeText(words).catch(byHand);
  else byHand();
}

function command(name) {
  if (name === "copy-link") {
    showLink();
    copy(location.href);
    say("Link copied. Whoever opens it needs the token too.", 3000);
  } else if (name === "save-picture") {
    canvas.toBlob((picture) => {
      const anchor = document.createElement("a");
      anchor.href = URL.createObjectURL(picture);
      anchor.download = "timeline.png";
      anchor.click();
      setTimeout(() => URL.revokeObjectURL(anchor.href), 1000);
    });
  }
}

// ---- The screen

let pixels = [0, 0], scale = 1;
function measure() {
  scale = devicePixelRatio || 1;
  pixels = [Math.round(canvas.clientWidth * scale), Math.round(canvas.clientHeight * scale)];
}
function size() { return [...short(pixels[0]), ...short(pixels[1]), ...float(scale)]; }
function resized() {
  const before = [...pixels, scale].join();
  measure();
  if ([...pixels, scale].join() !== before) tellSoon(Told.screen());
}
function at(event) { return [event.clientX * pixels[0] / canvas.clientWidth, event.clientY * pixels[1] / canvas.clientHeight]; }

// ---- Keys

const NAMES = {ArrowLeft: "Left", ArrowRight: "Right", ArrowUp: "Up", ArrowDown: "Down", PageUp: "PageUp", PageDown: "PageDown",
               Home: "Home", Enter: "Enter", Escape: "Esc", Backspace: "Backspace", Delete: "Delete", Tab: "Tab", F1: "F1"};
// With Ctrl others are the browser's.
const WITH_CONTROL = "ACFMSXYZ";

function bitsOf(event) {
  if (event.getModifierState("AltGraph")) return event.shiftKey ? 2 : 0;
  return (event.ctrlKey || event.metaKey ? 1 : 0) | (event.shiftKey ? 2 : 0) | (event.altKey ? 4 : 0);
}
// Letters of other scripts stand where theirs do.
function nameOf(event) {
  if (NAMES[event.key]) return NAMES[event.key];
  if (/^[a-z0-9,./?[\]]$/i.test(event.key)) return event.key.toUpperCase();
  return event.key.length === 1 ? /^Key([A-Z])$/.exec(event.code)?.[1] ?? "" : "";
}
const isOwn = (event) => event.target !== document.getElementById("token");

addEventListener("keydown", (event) => {
  if (!isOwn(event)) return;
  const bits = bitsOf(event), name = nameOf(event), control = bits & 1;
  hold(bits);
  if (name === "Tab" && !frame.wantsText) return flush();
  if (control && !WITH_CONTROL.includes(name) && !(name === "P" && bits & 2)) return flush();
  const typed = event.key.length === 1 && !control && !(bits & 4) ? event.key : "";
  if (!name && !typed) return flush();
  // Where a sign is differs between keyboards: Shift belongs to it.
  const heldWithIt = /[A-Z0-9]/.test(name) ? bits : bits & ~2;
  event.preventDefault();
  tell(Told.key(heldWithIt | (event.repeat ? 8 : 0), name, typed));
});
addEventListener("keyup", (event) => { hold(bitsOf(event)); flush(); });
addEventListener("blur", () => { hold(0); flush(); });
addEventListener("paste", (event) => {
  if (!isOwn(event)) return;
  event.preventDefault();
  tell(Told.text(event.clipboardData.getData("text/plain")));
});
// Keyboards on the screen tell of no keys.
keyboard.addEventListener("input", (event) => {
  if (event.inputType.startsWith("delete")) tell(Told.key(0, "Backspace", ""));
  else if (event.inputType === "insertLineBreak") tell(Told.key(0, "Enter", ""));
  else tell(Told.text(event.data ?? ""));
  keyboard.value = "";
});

// ---- Mouse

const BUTTONS = {0: LEFT, 1: MIDDLE, 2: RIGHT};
let lastTouch = false;
function onMouse(event, last) {
  lastTouch = false;
  hold(bitsOf(event));
  tellSoon(Told.move(at(event)));
  if (last) tell(last);
}
canvas.addEventListener("contextmenu", (event) => event.preventDefault());
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  hold(bitsOf(event));
  // Two fingers on a touchpad that zoom come as Ctrl and a wheel that turns little.
  const isPinch = event.ctrlKey && event.deltaMode === 0 && Math.abs(event.deltaY) < 50;
  const unit = event.deltaMode === 0 ? (isPinch ? 25 : 100) : event.deltaMode === 1 ? 3 : 1;
  tellSoon(Told.move(at(event)));
  tellSoon(Told.wheel(-event.deltaY / unit, -event.deltaX / unit));
}, {passive: false});

// ---- Fingers: one moves, two zoom, a tap is a click, a long one the other button

const fingers = new Map();
let moving = false, longPress = 0, apart = 0;
const distance = () => {
  const [a, b] = [...fingers.values()];
  return Math.hypot(a[0] - b[0], a[1] - b[1]);
};
const middle = () => {
  const [a, b] = [...fingers.values()];
  return [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
};
let begun = null;
let tapped = {at: -Infinity, where: [0, 0]};
function click(button, where, now) {
  tell(Told.move(where), Told.button(button, true, isSecondTap(where, now)), Told.button(button, false), Told.leave());
}
function isSecondTap(where, now) {
  const before = tapped;
  const second = now - before.at < TWICE_MS && Math.hypot(where[0] - before.where[0], where[1] - before.where[1]) < 3 * TAP_PX * scale;
  tapped = {at: second ? -Infinity : now, where};
  return second;
}
function fingerDown(event) {
  lastTouch = true;
  fingers.set(event.pointerId, at(event));
  clearTimeout(longPress);
  if (fingers.size === 1) {
    begun = at(event);
    longPress = setTimeout(() => {
      if (begun && !moving) click(RIGHT, begun, performance.now());
      begun = null;
    }, LONG_PRESS_MS);
  } else if (fingers.size === 2) {
    endMoving();
    begun = null;
    apart = distance();
  }
}
function fingerMoves(event) {
  if (!fingers.has(event.pointerId)) return;
  const where = at(event);
  fingers.set(event.pointerId, where);
  if (fingers.size === 2) return pinch();
  if (!moving && begun && Math.hypot(where[0] - begun[0], where[1] - begun[1]) > TAP_PX * scale) {
    moving = true;
    clearTimeout(longPress);
    tell(Told.finger(true, begun));
  }
  if (moving) tellSoon(Told.move(where));
}
function pinch() {
  const now = distance(), steps = Math.log(now / apart) / Math.log(ZOOM_STEP);
  if (!Number.isFinite(steps) || Math.abs(steps) < 0.05) return;
  apart = now;
  hold(1);
  tellSoon(Told.move(middle()));
  tellSoon(Told.wheel(steps, 0));
}
function endMoving() {
  if (moving) tell(Told.finger(false, fingers.values().next().value ?? [0, 0]));
  moving = false;
}
function fingerUp(event) {
  if (!fingers.has(event.pointerId)) return;
  clearTimeout(longPress);
  if (fingers.size === 1) {
    if (moving) endMoving();
    else if (begun && event.type === "pointerup") click(LEFT, begun, event.timeStamp);
    begun = null;
  }
  fingers.delete(event.pointerId);
  hold(0);
  tell(Told.leave());
}

canvas.addEventListener("pointerdown", (event) => {
  canvas.focus();
  canvas.setPointerCapture(event.pointerId);
  if (event.pointerType !== "touch") return;
  event.preventDefault();  // else it is told as a mouse too
  fingerDown(event);
});
canvas.addEventListener("pointermove", (event) => {
  if (event.pointerType === "touch") return fingerMoves(event);
  onMouse(event);
});
for (const kind of ["pointerup", "pointercancel"]) {
  canvas.addEventListener(kind, (event) => { if (event.pointerType === "touch") fingerUp(event); });
}
// Of several buttons that are down each is told, which only these do.
for (const kind of ["mousedown", "mouseup"]) {
  addEventListener(kind, (event) => {
    const button = BUTTONS[event.button];
    if (button === undefined || event.target !== canvas && kind === "mousedown") return;
    onMouse(event, Told.button(button, kind === "mousedown", event.detail === 2));
  });
}
canvas.addEventListener("pointerleave", (event) => {
  if (event.pointerType !== "touch" && event.buttons === 0) tellSoon(Told.leave());
});

// ---- Begin

gate.addEventListener("submit", (event) => {
  event.preventDefault();
  const given = document.getElementById("token").value.trim();
  setToken(/token=([^&]+)/.exec(given)?.[1] ?? given);
  connect();
});
addEventListener("hashchange", () => {
  const before = getToken();
  takeAddress();
  if (getToken() !== before) connect();
  else tell(Told.link(link));
});
if (gl) {
  prepare();
  measure();
  new ResizeObserver(resized).observe(canvas);
  addEventListener("resize", resized);
  canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
  canvas.addEventListener("webglcontextrestored", () => { prepare(); socket.onclose = null; socket.close(); connect(); });
  takeAddress();
  say("Connecting...");
  connect();
  canvas.focus();
} else {
  say("This browser cannot draw here: it has no WebGL 2.");
}
