// SPDX-License-Identifier: Apache-2.0
// A few steps of the timeline: zoom, pan, point at, select. Everything drawn was chosen when the page was made (timeline_data.h);
// without this a picture stands in its place. Times are nanoseconds from the start of what is shown.
"use strict";

const FONT = "12px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', 'DejaVu Sans', sans-serif";
const RULER = 24;
const GUTTER = 208;
const NARROW = 640; // pixels of width from which on labels stand beside the rows, not above them
const STRIP = 15; // of a label above a row
const LABELLED = 30; // narrower boxes stay without text
const SLACK = 3; // how near to an event is on it
const PRINT_WIDTH = 680; // of A4 between its margins
const PRINT_RATIO = 4; // a power of two: Chromium scales what it prints by whole 64ths

// As the report writes it.
function exactTime(ns) {
  if (ns < 0) return "-" + exactTime(-ns);
  if (ns < 1000) return Math.round(ns) + " ns";
  const four = (value) => {
    const decimals = value < 10 ? 3 : value < 100 ? 2 : 1;
    const scaled = value * 10 ** decimals;
    // Of two that are as near the even one; what is no multiple of a sixteenth only seems to lie between two.
    const isBetween = (value * 16) % 1 === 0 && scaled % 1 === 0.5;
    return (isBetween ? (2 * Math.round(scaled / 2)) / 10 ** decimals : value).toFixed(decimals);
  };
  if (ns < 120e9) {
    for (const [by, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "us"]]) if (ns / by >= 0.99995) return four(ns / by) + " " + unit;
  }
  const seconds = Math.floor((ns + 5e8) / 1e9);
  const two = (value) => String(value).padStart(2, "0");
  if (seconds < 7200) return Math.floor(seconds / 60) + " min " + two(seconds % 60) + " s";
  return Math.floor(seconds / 3600) + " h " + two(Math.floor(seconds / 60) % 60) + " min";
}

// In seconds with all nanoseconds.
function moment(ns) {
  const size = Math.abs(ns);
  return (ns < 0 ? "-" : "") + Math.floor(size / 1e9) + "." + String(size % 1e9).padStart(9, "0") + " s";
}

function unpack(text, make) {
  let before = 0;
  return text === "" ? [] : text.split(",").map((one) => {
    const numbers = one.split(" ").map((digits) => parseInt(digits, 36));
    const from = before + numbers[0];
    before = from + numbers[1];
    return make(from, before, numbers.slice(2));
  });
}

function readSpan(from, to, [look, ...more]) {
  if (more.length < 2) return { from, to, look, count: 1, busy: to - from, wait: more[0] ?? 0 };
  return { from, to, look, count: more[0], busy: more[1], wait: 0, mix: more.length > 2 ? more.slice(2) : null };
}

// The first one that ends after a time.
function firstAfter(spans, time) {
  let low = 0;
  for (let high = spans.length; low < high;) {
    const middle = (low + high) >> 1;
    if (spans[middle].to > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

class StepTimeline {
  constructor(figure) {
    this.data = JSON.parse(figure.querySelector(".timeline-data").textContent);
    this.canvas = figure.querySelector("canvas");
    this.details = figure.querySelector(".timeline-details");
    this.brush = this.canvas.getContext("2d");
    this.still = window.matchMedia("(prefers-reduced-motion: reduce)");
    for (const row of this.data.rows) {
      row.lanes = row.lanes.map((lane) => unpack(lane, readSpan));
      row.counter = row.counter ? unpack(row.counter, (from, to, [least, most]) => ({ from, to, least, most })) : null;
    }
    this.widths = new Map();
    this.pointers = new Map();
    this.selected = this.hovered = this.place = null;
    this.from = 0;
    this.to = this.data.span;
    figure.classList.add("live");
    this.canvas.hidden = this.details.hidden = false;
    const controls = figure.querySelector(".timeline-controls");
    controls.hidden = false;
    controls.addEventListener("click", (event) => this.command(event.target.dataset.do));
    this.listen();
    new ResizeObserver(() => this.resize()).observe(figure);
    this.resize();
    this.follow(location.hash);
  }

  listen() {
    const on = (type, act, options) => this.canvas.addEventListener(type, act, options);
    on("wheel", (event) => this.wheel(event), { passive: false });
    on("pointerdown", (event) => this.press(event));
    on("pointermove", (event) => this.move(event));
    for (const type of ["pointerup", "pointercancel"]) on(type, (event) => this.release(event));
    on("pointerleave", () => this.point(null));
    on("keydown", (event) => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey && this.key(event.key)) event.preventDefault();
    });
    for (const type of ["focus", "blur"]) on(type, () => this.redraw());
    // Of another screen the pixels may be finer.
    window.addEventListener("resize", () => this.resize());
    window.addEventListener("hashchange", () => this.follow(location.hash));
    for (const link of document.querySelectorAll("a.place")) link.addEventListener("click", () => this.follow(link.hash));
    new MutationObserver(() => this.redraw()).observe(root, { attributeFilter: ["data-theme"] });
    dark.addEventListener("change", () => this.redraw());
    window.addEventListener("beforeprint", () => this.print());
    window.addEventListener("afterprint", () => this.resize());
  }

  // Sizes and places.

  resize() {
    this.lay(this.canvas.parentElement.clientWidth, window.devicePixelRatio || 1);
    this.draw();
  }

  lay(width, ratio) {
    this.width = Math.max(width, 120);
    this.ratio = ratio;
    this.narrow = this.width < NARROW;
    this.left = this.narrow ? 0 : GUTTER;
    let top = RULER;
    for (const row of this.data.rows) {
      row.top = top;
      row.lanesTop = top + row.pad + (this.narrow && !row.heading ? STRIP : 0);
      top = row.bottom = row.lanesTop + row.lane * Math.max(row.lanes.length, 1) + row.pad;
    }
    this.height = top;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.width = this.width + "px";
    this.canvas.style.height = this.height + "px";
  }

  // What will be on paper: all of it, on white, fine enough for a printer.
  print() {
    const seen = [this.from, this.to];
    [this.from, this.to] = [0, this.data.span];
    this.lay(PRINT_WIDTH, PRINT_RATIO);
    this.draw("light");
    [this.from, this.to] = seen;
  }

  x(time) {
    const x = this.left + ((time - this.from) / (this.to - this.from)) * (this.width - this.left);
    return Math.round(Math.min(Math.max(x, this.left - 4), this.width + 4) * this.ratio) / this.ratio;
  }

  time(x) {
    return this.from + ((x - this.left) / (this.width - this.left)) * (this.to - this.from);
  }

  // Nothing finer than this was kept.
  leastSpan() {
    return Math.min(this.data.span, Math.max(100, this.data.cell > 1 ? 2 * this.data.cell * (this.width - this.left) : 0));
  }

  show(from, to) {
    const span = Math.min(Math.max(to - from, this.leastSpan()), this.data.span);
    const start = Math.min(Math.max((from + to - span) / 2, 0), this.data.span - span);
    this.from = start;
    this.to = start + span;
    this.redraw();
  }

  // Not at once, unless that is unwanted.
  glide(from, to) {
    cancelAnimationFrame(this.gliding);
    if (this.still.matches) return this.show(from, to);
    const begin = performance.now();
    const seen = [this.from, this.to];
    const step = (now) => {
      const part = Math.min(Math.max((now - begin) / 160, 0), 1);
      const eased = part * (2 - part);
      this.show(seen[0] + (from - seen[0]) * eased, seen[1] + (to - seen[1]) * eased);
      if (part < 1) this.gliding = requestAnimationFrame(step);
    };
    this.gliding = requestAnimationFrame(step);
  }

  zoom(at, factor) {
    cancelAnimationFrame(this.gliding);
    const span = Math.min(Math.max((this.to - this.from) * factor, this.leastSpan()), this.data.span);
    const share = (at - this.from) / (this.to - this.from);
    this.show(at - share * span, at + (1 - share) * span);
  }

  pan(pixels) {
    const by = (pixels / (this.width - this.left)) * (this.to - this.from);
    const room = Math.min(Math.max(by, -this.from), this.data.span - this.to);
    this.show(this.from + room, this.to + room);
  }

  fit() {
    this.place = null;
    this.glide(0, this.data.span);
  }

  // Around a time, with some room.
  approach(from, to) {
    const room = Math.max((to - from) * 0.25, 1);
    this.glide(Math.max(from - room, 0), Math.min(to + room, this.data.span));
  }

  follow(hash) {
    const line = /^#evidence-(\d+)$/.exec(hash);
    const place = line && this.data.places[line[1] - 1];
    if (!place) return;
    const [from, to, row] = place;
    this.place = { from, to, row };
    this.approach(from, to);
    const lane = this.data.rows[row].lanes.findIndex((spans) => spans.some((span) => span.from === from && span.to === to));
    if (lane >= 0) this.select({ row, lane, span: this.data.rows[row].lanes[lane].findIndex((span) => span.from === from) });
    else this.say(`Evidence ${line[1]}: ${this.data.rows[row].label}, ${moment(this.data.start + from)}, ${exactTime(to - from)}`);
  }

  // Input.

  wheel(event) {
    const lines = event.deltaMode === 1 ? 16 : 1;
    if (event.ctrlKey) this.zoom(this.time(this.at(event)[0]), Math.exp(Math.max(-100, Math.min(100, event.deltaY * lines)) * 0.004));
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan((event.deltaX || event.deltaY) * lines);
    else return;
    event.preventDefault();
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  press(event) {
    if (event.button !== 0) return;
    cancelAnimationFrame(this.gliding);
    this.canvas.setPointerCapture(event.pointerId);
    const [x, y] = this.at(event);
    this.pointers.set(event.pointerId, { x, y, pressedX: x, moved: this.pointers.size > 0 });
  }

  move(event) {
    const [x, y] = this.at(event);
    this.pointerX = x;
    const pointer = this.pointers.get(event.pointerId);
    if (!pointer) return event.pointerType === "touch" ? undefined : this.point([x, y]);
    if (!pointer.moved && Math.abs(x - pointer.pressedX) < 4) return;
    const before = pointer.moved ? pointer.x : pointer.pressedX;
    pointer.moved = true;
    const other = [...this.pointers.values()].find((one) => one !== pointer);
    if (other) {
      other.moved = true;
      const apart = (one) => Math.max(Math.abs(one - other.x), 8);
      this.zoom(this.time((x + other.x) / 2), apart(before) / apart(x));
      this.pan(-(x - before) / 2);
    } else {
      this.pan(before - x);
    }
    pointer.x = x;
    this.point(null);
  }

  release(event) {
    const pointer = this.pointers.get(event.pointerId);
    this.pointers.delete(event.pointerId);
    if (!pointer || pointer.moved || event.type === "pointercancel") return;
    this.place = null;
    this.select(this.find(...this.at(event)));
  }

  point(where) {
    if (!where) this.pointerX = undefined;
    const found = where && this.find(...where);
    const tip = found ? this.lines(found).map(([what, value]) => (what ? what + ": " : "") + value).join("\n")
      : where && (this.figureAt(...where) ?? this.missingAt(where[0]));
    if (tip) this.canvas.dataset.tip = tip;
    else delete this.canvas.dataset.tip;
    if (JSON.stringify(found) === JSON.stringify(this.hovered)) return;
    this.hovered = found;
    this.redraw();
  }

  figureAt(x, y) {
    const row = this.data.rows.find((one) => one.counter && y >= one.lanesTop && y < one.bottom);
    const figure = row && x >= this.left && row.counter[firstAfter(row.counter, this.time(x))];
    if (!figure || figure.from > this.time(x)) return undefined;
    const { least, most } = figure;
    return `${row.label}: ${least === most ? most : least + " to " + most}\nat: ${moment(Math.round(this.data.start + this.time(x)))}`;
  }

  missingAt(x) {
    const time = this.time(x);
    return this.data.gaps.find(([from, to]) => time >= from && time < to)?.[2];
  }

  find(x, y) {
    if (x < this.left) return null;
    const row = this.data.rows.findIndex((one) => y >= one.lanesTop && y < one.bottom);
    if (row < 0) return null;
    const lane = Math.floor((y - this.data.rows[row].lanesTop) / this.data.rows[row].lane);
    const spans = this.data.rows[row].lanes[lane];
    if (!spans) return null;
    const first = firstAfter(spans, this.time(x - SLACK));
    const time = this.time(x);
    let nearest = null;
    let least = Infinity;
    for (let span = first; span < spans.length && this.x(spans[span].from) <= x + SLACK; ++span) {
      const away = Math.max(spans[span].from - time, time - spans[span].to, 0);
      if (away < least) [nearest, least] = [{ row, lane, span }, away];
    }
    return nearest;
  }

  command(what) {
    const middle = this.selected ? this.span(this.selected).from : (this.from + this.to) / 2;
    const seen = middle >= this.from && middle <= this.to ? middle : (this.from + this.to) / 2;
    if (what === "in") this.zoom(seen, 0.5);
    else if (what === "out") this.zoom(seen, 2);
    else if (what === "fit") this.fit();
  }

  key(key) {
    const at = this.pointerX >= this.left ? this.time(this.pointerX) : (this.from + this.to) / 2;
    const page = (this.width - this.left) / 8;
    const acts = {
      w: () => this.zoom(at, 0.8), s: () => this.zoom(at, 1.25), "+": () => this.command("in"), "-": () => this.command("out"),
      a: () => this.pan(-page), d: () => this.pan(page), Home: () => this.fit(),
      ArrowRight: () => this.step(1), ArrowLeft: () => this.step(-1), ArrowDown: () => this.change(1), ArrowUp: () => this.change(-1),
    };
    if (this.selected) {
      acts.Enter = () => this.approach(this.span(this.selected).from, this.span(this.selected).to);
      acts.Escape = () => this.select(null);
    }
    const act = acts[key.length === 1 ? key.toLowerCase() : key];
    act?.();
    return act !== undefined;
  }

  // From event to event.

  span({ row, lane, span }) {
    return this.data.rows[row].lanes[lane][span];
  }

  lanes() {
    return this.data.rows.flatMap((row, index) => row.lanes.map((spans, lane) => ({ row: index, lane, spans }))).filter(({ spans }) => spans.length > 0);
  }

  step(by) {
    if (!this.selected) return this.change(1);
    const next = { ...this.selected, span: this.selected.span + by };
    if (this.span(next)) this.reach(next);
  }

  // To the nearest event in another lane; the first one, where none is selected.
  change(by) {
    const lanes = this.lanes();
    const now = this.selected ? lanes.findIndex((one) => one.row === this.selected.row && one.lane === this.selected.lane) : -1;
    const next = lanes[now + by];
    if (!next) return;
    const time = this.selected ? this.span(this.selected).from : this.from;
    const span = Math.min(firstAfter(next.spans, time), next.spans.length - 1);
    this.reach({ row: next.row, lane: next.lane, span });
  }

  reach(found) {
    const { from, to } = this.span(found);
    const seen = this.to - this.from;
    if (to <= this.from || from >= this.to) this.show((from + to - seen) / 2, (from + to + seen) / 2);
    this.select(found);
  }

  select(found) {
    this.selected = found;
    this.say(found ? this.lines(found).map(([what, value]) => (what ? what + " " : "") + value).join(", ") : "");
    this.redraw();
  }

  say(text) {
    this.details.textContent = text;
  }

  // What is known of it: pairs of what and value.
  lines(found) {
    const row = this.data.rows[found.row];
    const span = this.span(found);
    const [name, color] = this.data.looks[span.look];
    const [, , meaning] = this.data.colors[color];
    const start = ["start", moment(this.data.start + span.from)];
    if (span.count === 1) {
      return [["", name], ["row", row.label], start, ["duration", exactTime(span.to - span.from)],
        ...(span.wait > 0 ? [["waited for other ranks", exactTime(span.wait)]] : []), ...(meaning ? [["kind", meaning]] : [])];
    }
    const share = ((100 * span.busy) / (span.to - span.from)).toFixed(1) + " %";
    return [["", span.count.toLocaleString("en") + " events, merged"], ["row", row.label], start, ["within", exactTime(span.to - span.from)],
      ["busy", exactTime(span.busy) + " (" + share + ")"], ["longest", name]];
  }

  // Drawing.

  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  draw(paper) {
    const brush = this.brush;
    this.colors = this.data.themes[paper ?? theme()];
    this.canvas.dataset.from = this.from;
    this.canvas.dataset.to = this.to;
    brush.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    brush.font = FONT;
    brush.textBaseline = "middle";
    this.fill(0, 0, this.width, this.height, this.colors.background);
    this.data.rows.forEach((row, index) => {
      if (row.heading) this.fill(0, row.top, this.width, row.bottom - row.top, this.colors.heading);
      else if (index % 2 === 1) this.fill(0, row.top, this.width, row.bottom - row.top, this.colors.tint);
    });
    brush.save();
    brush.beginPath();
    brush.rect(this.left, 0, this.width - this.left, this.height);
    brush.clip();
    this.drawRuler();
    if (this.place) this.band(this.place.from, this.place.to, RULER, this.height, this.colors.place);
    this.data.rows.forEach((row) => this.drawRow(row));
    for (const [from, to] of this.data.gaps) this.band(from, to, RULER, this.height, this.colors.missing);
    if (this.place) this.drawPlace();
    if (this.hovered) this.frame(this.hovered, this.colors.hovered, 1);
    if (this.selected) this.frame(this.selected, this.colors.selected, 2);
    brush.restore();
    this.data.rows.forEach((row) => this.drawLabel(row));
    if (!this.narrow) this.fill(this.left - 1, 0, 1 / this.ratio, this.height, this.colors.divider);
  }

  fill(x, y, width, height, color) {
    this.brush.fillStyle = color;
    this.brush.fillRect(x, y, width, height);
  }

  band(from, to, top, bottom, color) {
    const left = this.x(from);
    this.fill(left, top, Math.max(this.x(to) - left, 1), bottom - top, color);
  }

  drawRuler() {
    this.fill(this.left, 0, this.width - this.left, RULER, this.colors.ruler);
    const least = ((this.to - this.from) / (this.width - this.left)) * 110;
    let step = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
    for (const factor of [1, 2, 5, 10]) {
      if (step * factor < least) continue;
      step *= factor;
      break;
    }
    const largest = Math.max(Math.abs(this.data.start + this.from), Math.abs(this.data.start + this.to));
    const [size, unit] = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]].find(([one]) => largest >= one) ?? [1, "ns"];
    const decimals = Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9));
    for (let time = Math.ceil((this.data.start + this.from) / step) * step; time <= this.data.start + this.to; time += step) {
      const x = this.x(time - this.data.start);
      this.fill(x, RULER, 1 / this.ratio, this.height - RULER, this.colors.grid);
      this.fill(x, RULER - 6, 1 / this.ratio, 6, this.colors.dim);
      const label = (time / size).toFixed(decimals) + " " + unit;
      if (x + 4 + this.measure(label) > this.width) continue;
      this.brush.fillStyle = this.colors.dim;
      this.brush.fillText(label, x + 4, RULER / 2);
    }
  }

  drawRow(row) {
    if (row.counter) this.drawCounter(row);
    row.lanes.forEach((spans, lane) => this.drawLane(row, spans, row.lanesTop + lane * row.lane, row.lane - 1));
  }

  // Events of two pixels or more are boxes; what is narrower stands in columns, as high as their share of busy time.
  drawLane(row, spans, top, height) {
    const pixel = (this.to - this.from) / ((this.width - this.left) * this.ratio);
    let column = null;
    for (let at = firstAfter(spans, this.from); at < spans.length && spans[at].from < this.to; ++at) {
      const span = spans[at];
      if (span.to - span.from >= 2 * pixel) {
        if (column) this.drawColumn(row, column, top, height);
        column = null;
        this.drawSpan(row, span, top, height);
        continue;
      }
      const x = Math.floor((this.x(span.from) - this.left) * this.ratio);
      if (column && column.x !== x) {
        this.drawColumn(row, column, top, height);
        column = null;
      }
      column ??= { x, busy: 0, mix: [0, 0, 0], longest: span, within: pixel };
      column.busy += span.busy;
      this.mixOf(span).forEach((busy, category) => (column.mix[category] += busy));
      if (span.busy > column.longest.busy) column.longest = span;
    }
    if (column) this.drawColumn(row, column, top, height);
  }

  mixOf(span) {
    if (span.mix) return span.mix;
    const color = this.data.colors[this.data.looks[span.look][1]][0];
    return this.data.categories.map((one) => (one === color ? span.busy : 0));
  }

  drawColumn(row, column, top, height) {
    const x = this.left + column.x / this.ratio;
    this.stack(row, x, 1 / this.ratio, top, height, { ...column, look: column.longest.look });
  }

  drawSpan(row, span, top, height) {
    const left = this.x(span.from);
    const right = Math.max(this.x(span.to), left + 1 / this.ratio);
    const width = right - left - (right - left >= 4 ? 1 / this.ratio : 0);
    if (span.count > 1) return this.stack(row, left, width, top, height, { ...span, within: span.to - span.from, mix: span.mix ?? [0, 0, 0] });
    const [name, number] = this.data.looks[span.look];
    const [color, ink] = this.data.colors[number];
    const waits = Math.min(this.x(span.from + span.wait) - left, width);
    if (waits > 0) {
      this.brush.globalAlpha = this.data.waitAlpha;
      this.fill(left, top, waits, height, color);
      this.brush.globalAlpha = 1;
    }
    this.fill(left + waits, top, width - waits, height, color);
    // The name where there is more room for it.
    if (waits > width / 2) this.drawName(name, left, waits, top, height, this.colors.text);
    else this.drawName(name, left + waits, width - waits, top, height, ink);
  }

  // From the bottom, as high as the share of time; of a whole GPU by category.
  stack(row, left, width, top, height, { look, busy, mix, within }) {
    const parts = row.stacked ? mix.map((part, category) => [part, this.data.categories[category]]) : [[busy, this.data.colors[this.data.looks[look][1]][0]]];
    let bottom = top + height;
    const least = Math.min(busy / within, 1) * height < 2;
    for (const [part, color] of least ? [[1, this.data.colors[this.data.looks[look][1]][0]]] : parts) {
      const high = least ? 2 : Math.min(Math.round((part / within) * height), bottom - top);
      this.fill(left, bottom - high, width, high, color);
      bottom -= high;
    }
  }

  drawName(name, left, width, top, height, color) {
    const from = Math.max(left, this.left);
    const seen = Math.min(left + width, this.width) - from;
    if (seen < LABELLED || height < 12) return;
    const text = this.cut(name, seen - 8);
    this.brush.fillStyle = color;
    this.brush.fillText(text, from + 4, top + height / 2 + 0.5);
  }

  measure(text) {
    if (!this.widths.has(text)) this.widths.set(text, this.brush.measureText(text).width);
    return this.widths.get(text);
  }

  // The whole name, else its last part, else the start of that.
  cut(name, room) {
    if (this.measure(name) <= room) return name;
    const short = name.slice(name.lastIndexOf("::") + 1).replace(/^:/, "");
    if (this.measure(short) <= room) return short;
    const letters = [...short];
    let low = 0;
    for (let high = letters.length; low < high;) {
      const middle = (low + high + 1) >> 1;
      if (this.brush.measureText(letters.slice(0, middle).join("") + "...").width <= room) low = middle;
      else high = middle - 1;
    }
    return low === 0 ? "" : letters.slice(0, low).join("") + "...";
  }

  drawCounter(row) {
    if (!(row.most > 0)) return;
    const height = row.lane - 1;
    const high = (value) => (value <= 0 ? 0 : Math.max((value / row.most) * height, 1));
    for (let at = firstAfter(row.counter, this.from); at < row.counter.length && row.counter[at].from < this.to; ++at) {
      const { from, to, least, most } = row.counter[at];
      const bottom = row.lanesTop + height;
      this.band(from, to, bottom - high(least), bottom, this.colors.counter);
      if (most <= least) continue;
      this.brush.globalAlpha = 0.43;
      this.band(from, to, bottom - high(most), bottom - high(least), this.colors.counter);
      this.brush.globalAlpha = 1;
    }
  }

  drawPlace() {
    const { from, to, row } = this.place;
    this.outline(this.x(from), this.data.rows[row].top, Math.max(this.x(to) - this.x(from), 3), this.data.rows[row].bottom - this.data.rows[row].top, this.colors.placeEdge, 2);
  }

  frame(found, color, line) {
    const row = this.data.rows[found.row];
    const { from, to } = this.span(found);
    if (to < this.from || from > this.to) return;
    this.outline(this.x(from), row.lanesTop + found.lane * row.lane, Math.max(this.x(to) - this.x(from), 3), row.lane - 1, color, line);
  }

  outline(x, y, width, height, color, line) {
    this.brush.strokeStyle = color;
    this.brush.lineWidth = line;
    this.brush.strokeRect(x + line / 2, y + line / 2, Math.max(width - line, 1), height - line);
  }

  drawLabel(row) {
    const indent = 8 + 12 * row.depth;
    const middle = this.narrow && !row.heading ? row.top + row.pad + STRIP / 2 : (row.top + row.bottom) / 2;
    const room = (this.narrow ? this.width : this.left) - indent - 6;
    const label = this.cut(row.label, room);
    this.brush.fillStyle = this.colors.text;
    this.brush.fillText(label, indent, middle + 0.5);
    // Beside headings there is nothing else.
    const after = indent + this.measure(label) + 8;
    const left = row.heading ? Math.max(after, this.left + 4) : after;
    const right = row.heading ? this.width : this.left;
    if (!row.note || right - left < LABELLED) return;
    this.brush.fillStyle = this.colors.dim;
    this.brush.fillText(this.cut(row.note, right - left - 6), left, middle + 0.5);
  }
}

for (const figure of document.querySelectorAll("figure.timeline")) new StepTimeline(figure);
