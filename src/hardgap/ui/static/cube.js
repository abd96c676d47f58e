// The cube of neighbourhoods, coloured by output: a step along an edge changes one cell. Hidden corners are open.
import { html } from "./vendor/preact-htm.js";
import { bits } from "./cells.js";

const popcount = (n) => { let ones = 0; for (; n; n &= n - 1) ones++; return ones; };

// Three bits as a cube in perspective; more as shells around the hidden entry, one column a distance.
function places(radius, around) {
  const n = 2 * radius + 1, count = 1 << n;
  if (n === 3) {
    return Array.from({ length: count }, (_, p) => {
      const [z, y, x] = [...bits(p, 1)].map(Number);
      return [50 + x * 150 + z * 70, 205 - y * 130 - z * 48];
    });
  }
  const shells = Array.from({ length: n + 1 }, () => []);
  for (let p = 0; p < count; p++) shells[popcount(p ^ around)].push(p);
  const place = [];
  shells.forEach((shell, d) => shell.forEach((p, i) => (place[p] = [30 + (d * 300) / n, 130 + (i - (shell.length - 1) / 2) * (220 / Math.max(10, ...shells.map((s) => s.length)))])));
  return place;
}

export function Cube({ rule, hidden, focus, onToggle }) {
  const { radius, table } = rule, place = places(radius, focus ?? 0), n = 2 * radius + 1;
  const edges = [];
  for (let p = 0; p < table.length; p++)
    for (let b = 0; b < n; b++) {
      const q = p ^ (1 << b);
      const near = p === focus || q === focus;
      if (p < q && (radius === 1 || near)) edges.push([p, q, near]);
    }
  const size = radius === 1 ? 17 : radius === 2 ? 7 : 3.5;
  const words = focus === undefined ? "" : `; ${bits(focus, radius)} is hidden, its neighbours answer ${
    Array.from({ length: n }, (_, b) => focus ^ (1 << b)).map((q) => `${bits(q, radius)} → ${hidden.has(q) ? "hidden" : table[q]}`).join(", ")}`;
  return html`
    <svg class="cube" viewBox="0 0 350 260" role="img" aria-label=${`The ${n}-cube of neighbourhoods, coloured by output${words}`}>
      ${edges.map(([p, q, near]) => html`<line class=${near ? "near" : ""} x1=${place[p][0]} y1=${place[p][1]} x2=${place[q][0]} y2=${place[q][1]} />`)}
      ${table.map((out, p) => html`
        <g onClick=${() => onToggle(p)} style="cursor:pointer">
          <title>${bits(p, radius)} → ${hidden.has(p) ? "hidden" : out}</title>
          <circle class=${hidden.has(p) ? "hid" : out ? "one" : ""} cx=${place[p][0]} cy=${place[p][1]} r=${size} />
          ${radius === 1 && html`
            <text class=${hidden.has(p) ? "q" : out ? "inside" : ""} x=${place[p][0]} y=${place[p][1] + 4}>${hidden.has(p) ? "?" : out}</text>
            <text x=${place[p][0]} y=${place[p][1] + 32}>${bits(p, 1)}</text>`}
        </g>`)}
    </svg>`;
}
