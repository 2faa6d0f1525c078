// SPDX-License-Identifier: Apache-2.0
// Everything is readable without this: it sorts tables, shows what is pointed at, and turns the theme.
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
