// Explore: a rule, what is hidden of it, how an error there spreads, what similarity must say, whether it is determined.
import { html, useEffect, useMemo, useState } from "./vendor/preact-htm.js";
import { change, link } from "./address.js";
import { bits, Cells, hiddenCells, rollout, seededRow } from "./cells.js";
import { Cube } from "./cube.js";
import { Problem, plural } from "./parts.js";
import { isCopy, useAnswer } from "./server.js";

const KNOWN = ["150", "30", "106", "110", "90", "D", "G", "L1 ^ (C & R1)"];
const HEIGHT = 10, WIDTH = 37;

// An entry by its number or by all its cells, as everywhere in hardgap; here too, so that a click shows at once.
const entry = (text, radius) => parseInt(text, text.length === 2 * radius + 1 ? 2 : 10);

// Whether an answer is about this rule: its table stays, so that a gap without an answer can be changed.
const asks = (path, rule) => new URLSearchParams(path.split("?")[1]).get("rule") === rule;

export function Explore({ at }) {
  const text = at.rule ?? "150", hide = at.hide ?? (at.rule ? "" : "2");
  const { data, error, path } = useAnswer(`api/explore?${new URLSearchParams({ rule: text, hide })}`);
  const rule = data?.rule;
  const hidden = useMemo(() => new Set(hide.split(",").filter(Boolean).map((one) => entry(one.trim(), rule?.radius))), [hide, rule]);
  const toggle = (p) => {
    const next = new Set(isCopy() && !hidden.has(p) ? [] : hidden); // a copy holds every gap of one entry
    for (const odd of hidden) if (!(odd < rule.table.length)) next.delete(odd);
    if (!next.delete(p) && next.size + 1 < rule.table.length) next.add(p);
    change({ rule: text, hide: [...next].sort((a, b) => a - b).join(","), flip: at.flip });
  };
  return html`
    <h2>Hide part of a rule. Can what is left tell what is missing?</h2>
    <p class="quiet">Pick a rule and click entries of its table to hide them. Wherever a hidden entry decides a cell, that cell is
      never shown to a learner.</p>
    <${RuleChoice} text=${text} />
    <${Problem} error=${error} />
    ${rule && (!error || asks(path, text)) && html`<${Table} rule=${rule} hidden=${hidden} toggle=${toggle} />`}
    ${rule && !error && html`
      <div class="cards">
        <${Spread} rule=${rule} hidden=${hidden} at=${at} />
        <${Similarity} rule=${rule} hidden=${hidden} data=${data} toggle=${toggle} at=${at} />
        <${Determined} rule=${rule} data=${data} />
        ${hidden.size > 0 && !isCopy() && html`<section class="card"><h3>Next</h3>
          <p><a class="button" href=${link("train", { rule: rule.name, hide })}>Train a network across this gap</a></p></section>`}
      </div>`}`;
}

function RuleChoice({ text }) {
  const [typed, setTyped] = useState(text);
  useEffect(() => setTyped(text), [text]);
  const choose = (rule) => change({ rule, hide: "", flip: "", pattern: "" });
  const submit = (event) => { event.preventDefault(); choose(typed); };
  return html`<form class="row" onSubmit=${submit}>
    <label>Rule: a number, a name or a formula
      <input value=${typed} list="rules" size="24" spellcheck=${false} onInput=${(e) => setTyped(e.target.value)} /></label>
    <datalist id="rules">${KNOWN.map((one) => html`<option value=${one} />`)}</datalist>
    <button class="first">Show</button>
    ${KNOWN.slice(0, 7).map((one) => html`<button type="button" aria-pressed=${one === text} onClick=${() => choose(one)}>${one}</button>`)}
  </form>`;
}

function Table({ rule, hidden, toggle }) {
  return html`<section aria-label="Truth table">
    <p class="small quiet">Rule ${rule.name} = <code>${rule.formula}</code>; as a polynomial <code>${rule.polynomial}</code>${
      rule.alike.length > 0 && html`; the same up to mirror and negative: ${rule.alike.join(", ")}`}.</p>
    <ul class="entries">${rule.table.map((out, p) => html`<li key=${p}>
      <button class="entry mono" aria-pressed=${hidden.has(p)} onClick=${() => toggle(p)}>
        <span class="cells">${bits(p, rule.radius)}</span> <span class="out">${hidden.has(p) ? "?" : out}</span>
        <span class="heard">${hidden.has(p) ? "hidden entry: show it" : "visible entry: hide it"}</span></button></li>`)}</ul>
  </section>`;
}

function Spread({ rule, hidden, at }) {
  const seed = Number(at.row ?? 1) >>> 0, t = Number(at.t ?? HEIGHT), flip = at.flip === "1" && hidden.size > 0;
  const until = t >= 0 ? Math.min(HEIGHT, Math.floor(t)) : HEIGHT;
  const [playing, setPlaying] = useState(false);
  useEffect(() => {
    if (!playing) return;
    const timer = setTimeout(() => (until >= HEIGHT ? setPlaying(false) : change({ t: until + 1 })), 350);
    return () => clearTimeout(timer);
  }, [playing, until]);
  const all = useMemo(() => {
    const row = seededRow(WIDTH, seed), rows = rollout(rule.table, rule.radius, row, HEIGHT);
    const other = rollout(rule.table.map((out, p) => (hidden.has(p) ? 1 - out : out)), rule.radius, row, HEIGHT);
    return { rows, other, hid: hiddenCells(rows, rule.radius, hidden), wrong: rows.map((r, t) => r.map((v, x) => v !== other[t][x])) };
  }, [rule, hidden, seed]);
  const cut = (rows) => rows.slice(0, until + 1);
  const count = (t, seen) => all.wrong[t].filter((wrong, x) => wrong && !all.hid[t][x] === seen).length;
  const first = all.rows.findIndex((_, t) => count(t, true) > 0);
  const blank = (rows, fill) => [...cut(rows), ...Array.from({ length: HEIGHT - until }, () => Array(WIDTH).fill(fill))];
  const marked = cut(all.hid).flat().filter(Boolean).length;
  const play = () => { change({ t: playing ? until : 0, flip: "1" }); setPlaying(!playing); };
  return html`<section class="card wide" aria-label="Rollout">
    <div class="split">
      <figure><figcaption>The true rollout</figcaption>
        <${Cells} rows=${blank(all.rows, 0)} hidden=${blank(all.hid, false)}
          label=${`True rollout of rule ${rule.name}, ${until} steps of ${WIDTH} cells; ${plural(marked, "hidden cell")}`} /></figure>
      ${flip && html`<figure><figcaption>With the hidden output${hidden.size > 1 ? "s" : ""} flipped</figcaption>
        <${Cells} rows=${blank(all.other, 0)} hidden=${blank(all.hid, false)} wrong=${blank(all.wrong, false)}
          label=${`The same row with hidden outputs flipped; at step ${until} ${plural(count(until, true), "visible cell")} differ`} /></figure>`}
    </div>
    <ul class="legend"><li><i class="one"></i>1</li><li><i></i>0</li><li><i class="hid"></i>made by a hidden entry: no loss looks at it</li>
      ${flip && html`<li><i class="err"></i>differs from the truth</li><li><i class="vis"></i>… at a visible cell: evidence</li>`}</ul>
    <div class="row">
      <button aria-pressed=${flip} disabled=${!hidden.size} onClick=${() => change({ flip: flip ? "" : "1" })}>Flip the hidden output${hidden.size > 1 ? "s" : ""}</button>
      <label>Steps shown: ${until}<input type="range" min="0" max=${HEIGHT} value=${until} onInput=${(e) => change({ t: e.target.value })} /></label>
      <button disabled=${!hidden.size} onClick=${play}>${playing ? "Pause" : "Step by step"}</button>
      <button onClick=${() => change({ row: seed + 1 })}>Another row</button>
    </div>
    <p aria-live="polite">${!hidden.size ? "Nothing is hidden yet." : flip
      ? first < 0 ? "On this row, the flipped output never reaches a visible cell."
        : html`A wrong hidden output is first contradicted by a visible cell at step ${first}; at step ${until}, <strong>${plural(count(until, true), "visible cell")}</strong> and
          ${" "}${plural(count(until, false), "hidden cell")} differ from the truth.`
      : html`${plural(marked, "cell")} of ${WIDTH * until} are hidden. Flip the hidden output to see where a wrong guess would show.`}</p>
  </section>`;
}

const WORDS = { "never right": "or a tie", "never wrong": "or a tie", tie: "always a tie", open: "depends", unsettled: "not settled" };

function Similarity({ rule, hidden, data, toggle, at }) {
  const shown = data.votes.find((one) => String(one.pattern) === at.pattern) ?? data.votes[0];
  return html`<section class="card wide" aria-label="What similarity must answer">
    <h3>What similarity must answer</h3>
    <div class="split"><div>
    <${Cube} rule=${rule} hidden=${hidden} focus=${shown?.pattern} onToggle=${toggle} />
    <ul class="legend"><li><i style="background:var(--accent)"></i>output 1</li><li><i></i>output 0</li><li><i class="hid"></i>hidden</li></ul></div><div>
    ${!shown ? html`<p>Hide an entry to see what its neighbours say about it.</p>` : html`
      ${data.votes.length > 1 && html`<label>Hidden entry <select onChange=${(e) => change({ pattern: e.target.value })}>
        ${data.votes.map((one) => html`<option value=${one.pattern} selected=${one === shown}>${one.cells}</option>`)}</select></label>`}
      <p>${why(rule, hidden, shown)}</p>
      <table><caption>The truth at ${shown.cells} is ${shown.output}</caption>
        <thead><tr><th>method, all settings</th><th>answer</th><th>so it is</th></tr></thead>
        <tbody>${shown.methods.map((one) => html`<tr><td>${one.method}</td>
          <td>${one.answer ?? "–"} ${WORDS[one.verdict] && html`<span class="quiet small">${WORDS[one.verdict]}</span>`}</td>
          <td class=${one.verdict.includes("right") && !one.verdict.includes("never") ? "right" : one.answer !== null ? one.answer === shown.output ? "right" : "wrong" : ""}>${one.verdict}
            ${one.why && html`<div class="quiet small">${one.why}</div>`}</td></tr>`)}</tbody></table>`}</div></div>
  </section>`;
}

// The vote of the nearest visible entries, shell by shell.
function why(rule, hidden, { pattern, cells, output }) {
  const shells = [];
  for (let q = 0; q < rule.table.length; q++) {
    const d = [...bits(q ^ pattern, rule.radius)].filter((b) => b === "1").length;
    if (d && !hidden.has(q)) (shells[d] ||= [0, 0])[rule.table[q]]++;
  }
  const d = shells.findIndex(Boolean), [zeros, ones] = shells[d];
  const side = (n, out) => `${n} say${n === 1 ? "s" : ""} ${out}`;
  const all = shells[d][1 - output] === zeros + ones && zeros + ones > 0;
  return html`Of the ${plural(zeros + ones, "visible entry").replace("entrys", "entries")} at distance ${d} from ${cells}, ${side(zeros, 0)} and ${side(ones, 1)}.
    ${all ? " Every one of the nearest says the opposite of the truth, so whatever trusts the nearest is wrong." : ""}
    ${" "}A kernel weighs the shells by how near they are; a tree answers with the majority of a subcube through the open corner.`;
}

function Determined({ rule, data }) {
  if (!data.hidden.length) return null;
  return html`<section class="card" aria-label="Is the gap determined?">
    <h3>Is what is hidden determined by what is visible?</h3>
    ${!data.determined.length ? html`<p>So many hidden entries take longer: <code>hardgap identify "${rule.name}" --hide …</code> answers.</p>` : html`
    <table><caption>From the visible cells of every row there could be</caption>
      <thead><tr><th>steps seen</th><th>answer</th></tr></thead>
      <tbody>${data.determined.map((one) => html`<tr><td class="mono">${one.steps}</td><td>${verdict(rule, data, one)}</td></tr>`)}</tbody></table>`}
  </section>`;
}

function verdict(rule, data, one) {
  if (one.determined === null) return html`<span class="quiet">takes longer: <code>hardgap identify --steps ${one.steps}</code></span>`;
  if (one.determined) return html`<span class="right">determined</span>: only Rule ${rule.name} fits`;
  const at = one.witness.differs.map((p) => bits(p, rule.radius)).join(", ");
  return html`<span class="wrong">not determined</span>: ${one.complete ? one.fitting : `at least ${one.fitting + 1}`} tables fit; one is
    ${" "}<a href=${link("explore", { rule: one.witness.name })}>Rule ${one.witness.name}</a>, which differs at ${at}${
    data.hidden.length > 1 ? ` (${one.entries.length} of ${data.hidden.length} entries are determined)` : ""}`;
}
