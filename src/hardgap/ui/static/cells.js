// Rows of cells: stepped by a rule under periodic boundaries, and drawn.
import { html, useLayoutEffect, useRef } from "./vendor/preact-htm.js";

// The number of each cell's neighbourhood, the leftmost cell most significant, as everywhere in hardgap.
export function patterns(row, radius) {
  return row.map((_, i) => {
    let pattern = 0;
    for (let o = -radius; o <= radius; o++) pattern = pattern * 2 + row[(i + o + row.length * radius) % row.length];
    return pattern;
  });
}

export function rollout(table, radius, row, steps) {
  const rows = [row];
  for (let t = 0; t < steps; t++) rows.push(patterns(rows[t], radius).map((p) => table[p]));
  return rows;
}

// Which cells of rows 1, 2, … came from a hidden entry, in the true rollout.
export function hiddenCells(rows, radius, hidden) {
  return rows.map((row, t) => (t ? patterns(rows[t - 1], radius).map((p) => hidden.has(p)) : row.map(() => false)));
}

// A row that a seed makes (mulberry32), the same in every browser.
export function seededRow(width, seed) {
  let state = seed >>> 0;
  return Array.from({ length: width }, () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) & 1;
  });
}

export const bits = (pattern, radius) => pattern.toString(2).padStart(2 * radius + 1, "0");

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// `rows` hold 0 to 1 (a probability is a shade). hidden: an orange frame. wrong: orange. visible: a dot in it.
// With `shades`, a wrong cell is as orange as it is probable.
export function Cells({ rows, hidden, wrong, label, size = 14, shades = false }) {
  const canvas = useRef();
  useLayoutEffect(() => {
    const to = canvas.current, scale = 2, s = size * scale;
    to.width = rows[0].length * s;
    to.height = rows.length * s;
    const pen = to.getContext("2d");
    const [zero, one, grid, mark] = ["--zero", "--one", "--grid", "--hidden"].map(colour);
    rows.forEach((row, y) => row.forEach((value, x) => {
      pen.globalAlpha = 1;
      pen.fillStyle = zero;
      pen.fillRect(x * s, y * s, s, s);
      pen.globalAlpha = value;
      pen.fillStyle = one;
      pen.fillRect(x * s, y * s, s, s);
      pen.globalAlpha = 1;
      if (wrong?.[y][x]) {
        pen.globalAlpha = shades ? 0.25 + 0.75 * Math.abs(2 * value - 1) : 1;
        pen.fillStyle = mark;
        pen.fillRect(x * s, y * s, s, s);
        pen.globalAlpha = 1;
        if (!hidden?.[y][x]) dot(pen, x * s + s / 2, y * s + s / 2, s / 5, zero);
      }
      pen.strokeStyle = grid;
      pen.lineWidth = 1;
      pen.strokeRect(x * s + 0.5, y * s + 0.5, s, s);
      if (hidden?.[y][x]) {
        pen.strokeStyle = mark;
        pen.lineWidth = s / 7;
        pen.strokeRect(x * s + s / 10, y * s + s / 10, s * 0.8, s * 0.8);
      }
    }));
  });
  return html`<canvas class="cells" ref=${canvas} role="img" aria-label=${label}
    style=${{ maxWidth: `${rows[0].length * size * 1.6}px` }}></canvas>`;
}

function dot(pen, x, y, r, fill) {
  pen.fillStyle = fill;
  pen.beginPath();
  pen.arc(x, y, r, 0, 7);
  pen.fill();
}
