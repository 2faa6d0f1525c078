// SPDX-License-Identifier: Apache-2.0
// Everything is readable without this: it sorts tables, zooms into flame graphs and searches them, shows what is pointed at, and
// turns the theme.
"use strict";

// Tables: the header cells become buttons. Numbers stand in data-v; an empty one is not known and comes last.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    if (head.dataset.tip) {
      button.dataset.tip = head.dataset.tip;
      delete head.dataset.tip;
    }
    button.addEventListener("click", () => {
      const number = head.classList.contains("num");
      const was = head.getAttribute("aria-sort");
      const ascending = was === "none" ? !number : was === "descending";
      for (const other of heads) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      sort(table.tBodies[0], column, number, ascending);
    });
  });
}

function sort(body, column, number, ascending) {
  const keyed = [...body.rows].map((row) => {
    const cell = row.cells[column];
    const known = number ? cell.dataset.v !== "" : cell.textContent !== "-";
    return { row, known, key: number ? Number(cell.dataset.v) : cell.textContent };
  });
  keyed.sort((a, b) => {
    if (a.known !== b.known) return a.known ? -1 : 1;
    const order = number ? a.key - b.key : a.key.localeCompare(b.key, "en", { numeric: true });
    return ascending ? order : -order;
  });
  body.append(...keyed.map((one) => one.row));
}

// Flame graphs. A frame stands before those that it called, so those below it follow it.
class Flame {
  constructor(figure, controls) {
    this.figure = figure;
    this.svg = figure.querySelector("svg.flames");
    this.controls = controls;
    this.boxes = [];
    const callers = [];
    for (const element of this.svg.querySelectorAll(".frame")) {
      const depth = Number(element.getAttribute("aria-level")) - 1;
      const box = { element, depth, from: parseFloat(element.getAttribute("x")), width: parseFloat(element.getAttribute("width")),
        caller: callers[depth - 1] ?? null, text: element.dataset.tip.toLowerCase(), label: element.querySelector("text"), callees: [] };
      box.caller?.callees.push(box);
      callers.length = depth;
      callers.push(box);
      this.boxes.push(box);
    }
    this.root = this.zoomed = this.focused = this.boxes[0];
    this.svg.addEventListener("click", (event) => this.zoom(this.at(event)));
    this.svg.addEventListener("focusin", (event) => this.focus(this.at(event)));
    this.svg.addEventListener("keydown", (event) => {
      if (this.key(event.key)) event.preventDefault();
    });
    new ResizeObserver(() => this.name()).observe(this.svg);
  }

  at(event) {
    const element = event.target.closest(".frame");
    return this.boxes.find((box) => box.element === element) ?? this.root;
  }

  // Over the whole width: the frame, those that led to it, and those below it.
  zoom(to) {
    this.zoomed = to;
    const led = new Set();
    for (let box = to.caller; box; box = box.caller) led.add(box);
    for (const box of this.boxes) {
      let below = box;
      while (below && below.depth > to.depth) below = below.caller;
      const inside = below === to;
      box.seen = inside || led.has(box);
      box.element.classList.toggle("out", !box.seen);
      box.element.classList.toggle("above", led.has(box));
      box.element.setAttribute("x", inside ? (100 * (box.from - to.from)) / to.width + "%" : "0%");
      box.element.setAttribute("width", inside ? (100 * box.width) / to.width + "%" : "100%");
    }
    this.controls.out.disabled = to === this.root;
    this.name();
    this.focus(to);
  }

  // Names where there is room for some letters.
  name() {
    const whole = this.svg.clientWidth;
    for (const box of this.boxes) {
      const width = (parseFloat(box.element.getAttribute("width")) / 100) * whole;
      box.label.setAttribute("class", width < 32 ? "off" : "on");
    }
  }

  focus(box) {
    this.focused.element.setAttribute("tabindex", "-1");
    this.focused = box;
    box.element.setAttribute("tabindex", "0");
  }

  key(key) {
    const box = this.focused;
    const seen = (one) => one.element.classList.contains("out") === false;
    const beside = (by) => {
      const row = this.boxes.filter((one) => one.depth === box.depth && seen(one));
      return row[row.indexOf(box) + by];
    };
    if (key === "Enter" || key === " ") {
      this.zoom(box);
      return true;
    }
    if (key === "Escape") {
      if (this.zoomed === this.root) return false;
      this.zoom(this.root);
      return true;
    }
    const moves = { ArrowDown: box.callees[0], ArrowUp: box.caller, ArrowRight: beside(1), ArrowLeft: beside(-1), Home: this.root };
    if (!(key in moves)) return false;
    if (moves[key]) moves[key].element.focus();
    return true;
  }

  // Marks what has the text in its name, and returns the share of it in all: what is below a match is part of it.
  search(text) {
    let width = 0;
    let count = 0;
    for (const box of this.boxes) {
      const found = text !== "" && box !== this.root && box.text.split(". ")[0].includes(text);
      box.inside = found || (box.caller?.inside ?? false);
      box.element.classList.toggle("found", found);
      if (!found) continue;
      ++count;
      if (!box.caller.inside) width += box.width;
    }
    return { count, share: width / this.root.width };
  }
}

function duration(ns) {
  const [unit, by] = ns >= 1e9 ? ["s", 1e9] : ns >= 1e6 ? ["ms", 1e6] : ["us", 1e3];
  return (ns / by).toPrecision(4) + " " + unit;
}

for (const panel of document.querySelectorAll(".flame-controls")) {
  const controls = { out: panel.querySelector(".flame-out"), search: panel.querySelector(".flame-search"),
    found: panel.querySelector(".flame-found"), thread: panel.querySelector(".flame-thread") };
  const flames = [...panel.parentElement.querySelectorAll("figure.flame")].map((figure) => new Flame(figure, controls));
  let shown = flames[0];
  const search = () => {
    const { count, share } = shown.search(controls.search.value.trim().toLowerCase());
    const ns = Number(shown.svg.dataset.ns) * share;
    const time = ns > 0 ? ", " + duration(ns) + shown.svg.dataset.per : "";
    controls.found.textContent = controls.search.value.trim() === "" ? ""
      : count === 0 ? "no match" : count + (count === 1 ? " match: " : " matches: ") + (100 * share).toFixed(1) + " %" + time;
  };
  const choose = (flame) => {
    shown = flame;
    for (const one of flames) one.figure.hidden = one !== flame;
    controls.out.disabled = flame.zoomed === flame.root;
    search();
  };
  for (const flame of controls.thread ? flames : []) controls.thread.add(new Option(flame.figure.dataset.name));
  controls.thread?.addEventListener("change", () => choose(flames[controls.thread.selectedIndex]));
  controls.search.addEventListener("input", search);
  controls.out.addEventListener("click", () => {
    shown.zoom(shown.root);
    shown.root.element.focus();
  });
  choose(shown);
  panel.hidden = false;
}

// What is pointed at, or has the focus.
const tip = document.createElement("div");
tip.id = "tip";
tip.setAttribute("role", "tooltip");
tip.hidden = true;
document.body.append(tip);

function show(of, x, y) {
  tip.textContent = of.dataset.tip;
  tip.hidden = false;
  const gap = 14;
  const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
  tip.style.left = Math.max(8, Math.min(x + gap, room)) + "px";
  tip.style.top = (y + gap + tip.offsetHeight < window.innerHeight ? y + gap : y - gap - tip.offsetHeight) + "px";
}

function hide() {
  tip.hidden = true;
}

document.addEventListener("pointermove", (event) => {
  const of = event.target.closest("[data-tip]");
  if (of) show(of, event.clientX, event.clientY);
  else hide();
});
document.addEventListener("pointerleave", hide);
document.addEventListener("scroll", hide, { passive: true });
document.addEventListener("focusin", (event) => {
  const of = event.target.closest("[data-tip]");
  if (!of) return;
  of.setAttribute("aria-describedby", "tip");
  const box = of.getBoundingClientRect();
  show(of, box.left, box.bottom);
});
document.addEventListener("focusout", hide);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") hide();
});

// The theme: the system's until it is turned.
const button = document.getElementById("theme");
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const root = document.documentElement;

function theme() {
  return root.dataset.theme || (dark.matches ? "dark" : "light");
}

function name() {
  button.textContent = theme() === "dark" ? "Light theme" : "Dark theme";
}

button.addEventListener("click", () => {
  root.dataset.theme = theme() === "dark" ? "light" : "dark";
  name();
});
dark.addEventListener("change", name);
name();
button.hidden = false;
