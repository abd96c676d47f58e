// Curves over training, drawn by uPlot: accuracies in percent, bands, the transition marked.
import { html, useEffect, useRef } from "./vendor/preact-htm.js";
import uPlot from "./vendor/uplot.js";

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const dark = matchMedia("(prefers-color-scheme: dark)");

// lines: [{ label, values, tone: "--accent", dash, band: [low, high] }]; marks: [{ step, label }].
export function Chart({ steps, lines, marks = [], at, label, height = 230, onStep }) {
  const place = useRef(), plot = useRef();
  const shape = JSON.stringify([lines.map((one) => [one.label, one.tone, Boolean(one.band)]), height]);
  const now = useRef();
  now.current = { marks, at, onStep, steps };
  const data = [steps];
  for (const { values, band } of lines) data.push(values.map(share), ...(band ? band.map((edge) => edge.map(share)) : []));
  useEffect(() => {
    const draw = () => {
      plot.current?.destroy();
      plot.current = new uPlot(options(lines, now, place.current.clientWidth, height), data, place.current);
    };
    draw();
    const size = new ResizeObserver(() => place.current && plot.current.setSize({ width: place.current.clientWidth, height }));
    size.observe(place.current);
    dark.addEventListener("change", draw);
    return () => { size.disconnect(); dark.removeEventListener("change", draw); plot.current.destroy(); };
  }, [shape]);
  useEffect(() => plot.current?.setData(data), [JSON.stringify(data)]);
  useEffect(() => plot.current?.redraw(false), [JSON.stringify([marks, at])]);
  return html`<div role="img" aria-label=${label} ref=${place} style=${{ minHeight: `${height + 30}px` }}></div>`;
}

const share = (value) => (value === null || value === undefined ? null : 100 * value);

function options(lines, now, width, height) {
  const ink = colour("--soft"), series = [{ label: "step" }], bands = [];
  for (const { label, tone, dash, band } of lines) {
    const stroke = colour(tone);
    series.push({ label, stroke, width: 2, dash, points: { show: false }, value: (_, v) => (v === null ? "–" : `${v.toFixed(1)} %`) });
    if (band) {
      const at = series.length;
      for (const edge of ["25 %", "75 %"]) series.push({ label: `${label}, ${edge}`, stroke: "transparent", points: { show: false }, value: (_, v) => (v === null ? "–" : `${v.toFixed(1)} %`) });
      bands.push({ series: [at + 1, at], fill: `${stroke}33` });
    }
  }
  const axis = { stroke: ink, grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false }, font: "12px system-ui" };
  return {
    width, height, series, bands,
    scales: { x: { time: false }, y: { range: [-3, 103] } },
    axes: [{ ...axis, label: "training step", size: 30, labelSize: 18, labelFont: "12px system-ui" }, { ...axis, size: 44, values: (_, all) => all.map((v) => `${v} %`) }],
    cursor: { points: { size: 6 }, bind: { click: (u) => () => choose(u, now) } },
    legend: { live: true },
    hooks: { draw: [(u) => mark(u, now.current)] },
  };
}

function choose(u, now) {
  const { onStep, steps } = now.current;
  if (onStep && u.cursor.idx !== null) onStep(steps[u.cursor.idx]);
}

function mark(u, { marks, at }) {
  const pen = u.ctx, { top, height } = u.bbox, line = (step, tone, dash) => {
    const x = Math.round(u.valToPos(step, "x", true));
    Object.assign(pen, { strokeStyle: colour(tone), lineWidth: 1.5 });
    pen.setLineDash(dash);
    pen.beginPath();
    pen.moveTo(x, top);
    pen.lineTo(x, top + height);
    pen.stroke();
    pen.setLineDash([]);
    return x;
  };
  pen.save();
  for (const { step, label } of marks) {
    const x = line(step, "--hidden", [5, 4]);
    Object.assign(pen, { fillStyle: colour("--hidden"), font: `${12 * devicePixelRatio}px system-ui`, textAlign: x > u.bbox.left + u.bbox.width * 0.7 ? "right" : "left" });
    pen.fillText(label, x + (pen.textAlign === "left" ? 6 : -6), top + height / 2);
  }
  if (at !== undefined) line(at, "--ink", []);
  pen.restore();
}

// The first evaluation after the start at which half of the hidden cells are right, as everywhere in hardgap.
export const transition = (curve) => curve.find((point) => point.step > 0 && point.holdout >= 0.5)?.step;
export const transitionMarks = (curve) => {
  const marks = [], step = transition(curve);
  if (step !== undefined) marks.push({ step, label: `transition, step ${step}` });
  curve.forEach((point, i) => i && (point.attempt ?? 0) !== (curve[i - 1].attempt ?? 0) && marks.push({ step: point.step, label: "started again" }));
  return marks;
};

export function Curve({ curve, title, at, onStep, height }) {
  const last = curve.at(-1);
  return html`<${Chart} steps=${curve.map((p) => p.step)} at=${at} onStep=${onStep} height=${height} marks=${transitionMarks(curve)}
    lines=${[{ label: "visible", tone: "--hidden", dash: [6, 3], values: curve.map((p) => p.visible) }, { label: "holdout", tone: "--accent", values: curve.map((p) => p.holdout) }]}
    label=${`${title}: accuracy over training; ${last ? `at step ${last.step} visible ${(100 * last.visible).toFixed(1)} %, holdout ${(100 * last.holdout).toFixed(1)} %` : "not begun"}`} />`;
}

export const Bands = ({ bands, title }) => html`<${Chart} steps=${bands.steps} label=${`${title}: median and middle half of visible and holdout accuracy`}
  lines=${["visible", "holdout"].map((name) => ({ label: name, tone: name === "visible" ? "--hidden" : "--accent", dash: name === "visible" ? [6, 3] : undefined,
    values: bands[name].median, band: [bands[name].low, bands[name].high] }))} />`;
