// Runs: the list, groups of seeds, one run, one group, two groups pair by pair.
import { html, useEffect, useState } from "./vendor/preact-htm.js";
import { change, link } from "./address.js";
import { Bands, Curve } from "./chart.js";
import { Copy, percent, plural, Problem, Wide } from "./parts.js";
import { isCopy, mayChange, send, useAnswer } from "./server.js";

const SIZE = 50;

export function Runs({ at }) {
  if (at.run) return html`<${OneRun} id=${at.run} />`;
  if (at.a && at.b) return html`<${Pairs} a=${at.a} b=${at.b} />`;
  if (at.group) return html`<${OneGroup} id=${at.group} />`;
  return html`<${List} at=${at} />`;
}

const conditions = (text = "") => text.split(";").map((one) => one.trim()).filter(Boolean).map((one) => `&where=${encodeURIComponent(one)}`).join("");

function List({ at }) {
  const groups = at.show === "groups", page = Number(at.page ?? 0), where = conditions(at.where);
  const path = groups ? `api/groups?page=${page}&size=${SIZE}${where}` : `api/runs?page=${page}&size=${SIZE}&sort=${encodeURIComponent(at.sort ?? "-created")}${where}`;
  const { data, error } = useAnswer(path);
  return html`
    <h2>Runs</h2>
    <p class="quiet">Every run of the store, found again by what was asked for. A group is all seeds of one setting.</p>
    <${Filter} at=${at} />
    <div class="row">
      <button aria-pressed=${!groups} onClick=${() => change({ show: "", page: "" })}>Single runs</button>
      <button aria-pressed=${groups} onClick=${() => change({ show: "groups", page: "" })}>Groups of seeds</button>
      ${!isCopy() && ["csv", "json"].map((kind) => html`<a class="button" download href=${`api/runs.${kind}?sort=${encodeURIComponent(at.sort ?? "-created")}${where}`}>Download ${kind.toUpperCase()}</a>`)}
    </div>
    <${Problem} error=${error} />
    ${data && html`
      <${Wide} label="Table of runs">${groups ? html`<${GroupTable} rows=${data.rows} at=${at} />` : html`<${RunTable} rows=${data.rows} at=${at} />`}<//>
      <${Pages} total=${data.total} page=${page} />`}`;
}

function Filter({ at }) {
  const [typed, setTyped] = useState(at.where ?? "");
  useEffect(() => setTyped(at.where ?? ""), [at.where]);
  const fields = useAnswer(isCopy() ? "" : "api/fields").data?.where ?? [];
  if (isCopy()) return null;
  const submit = (event) => { event.preventDefault(); change({ where: typed, page: "" }); };
  const begin = (field) => (event) => {
    setTyped(`${typed.replace(/[;\s]*$/, "")}${typed.trim() && "; "}${field}=`);
    event.target.form.querySelector("input").focus();
  };
  return html`<form class="row" onSubmit=${submit}><label>Only runs with (field=value; field=value)
      <input size="44" value=${typed} placeholder="rule=150; unrolling.feedback=soft; status=done" onInput=${(e) => setTyped(e.target.value)} /></label>
    <button class="first">Filter</button>${at.where && html`<button type="button" onClick=${() => change({ where: "", page: "" })}>All</button>`}
    <details class="small"><summary>Fields</summary><p>${fields.map((one) => html`<button type="button" class="mono" onClick=${begin(one)}>${one}</button> `)}</p></details></form>`;
}

const COLUMNS = [["run", "run"], ["", "what"], ["status", "status"], ["steps", "step", 1], ["visible", "visible", 1], ["holdout", "holdout", 1], ["transition", "transition", 1], ["seconds", "seconds", 1]];

function RunTable({ rows, at }) {
  const sort = at.sort ?? "-created";
  const head = ([name, words, number]) => {
    const now = sort.replace("-", "") === name, down = sort.startsWith("-");
    if (!name || isCopy()) return html`<th class=${number ? "number" : ""}>${words}</th>`;
    return html`<th class=${number ? "number" : ""} aria-sort=${now ? (down ? "descending" : "ascending") : "none"}>
      <button onClick=${() => change({ sort: now && down ? name : `-${name}`, page: "" })}>${words}${now ? (down ? " ↓" : " ↑") : ""}</button></th>`;
  };
  return html`<table><thead><tr>${COLUMNS.map(head)}</tr></thead>
    <tbody>${rows.map((one) => html`<tr key=${one.id}><td class="mono"><a href=${link("runs", { run: one.id })}>${one.id}</a></td><td>${one.about}</td>
      <td>${one.status}${one.error && html`<div class="small wrong">${one.error}</div>`}</td><td class="number">${one.step}</td><td class="number">${percent(one.visible)}</td>
      <td class="number">${percent(one.holdout)}</td><td class="number">${one.transition ?? "–"}</td><td class="number">${one.seconds}</td></tr>`)}</tbody></table>`;
}

function GroupTable({ rows, at }) {
  const pick = (id) => change({ b: at.a && at.a !== id ? id : "", a: at.a && at.a !== id ? at.a : at.a === id ? "" : id });
  return html`${!isCopy() && html`<p class="small quiet" role="status">${at.a ? "Choose the second group to compare." : "Choose two groups to compare them seed by seed."}</p>`}
    <table><thead><tr><th>group</th><th class="number">runs</th><th class="number">done</th><th class="number">recovered</th><th class="number">mean holdout</th>${!isCopy() && html`<th>compare</th>`}</tr></thead>
    <tbody>${rows.map((one) => html`<tr key=${one.id}><td><a href=${link("runs", { group: one.id })}>${one.about}</a></td><td class="number">${one.runs}</td><td class="number">${one.done}</td>
      <td class="number">${one.recovered}</td><td class="number">${percent(one.holdout)}</td>
      ${!isCopy() && html`<td><button aria-pressed=${at.a === one.id} aria-label=${`${at.a === one.id ? "chosen" : "choose"} to compare: ${one.about}`} onClick=${() => pick(one.id)}>${at.a === one.id ? "chosen" : "choose"}</button></td>`}</tr>`)}</tbody></table>`;
}

function Pages({ total, page }) {
  const last = Math.max(0, Math.ceil(total / SIZE) - 1);
  return html`<div class="pages"><button disabled=${page <= 0} onClick=${() => change({ page: page - 1 })}>Previous</button>
    <span role="status">${total ? `${page * SIZE + 1} to ${Math.min(total, (page + 1) * SIZE)} of ${total}` : "none"}</span>
    <button disabled=${page >= last} onClick=${() => change({ page: page + 1 })}>Next</button></div>`;
}

function OneRun({ id }) {
  const { data, error } = useAnswer(`api/runs/${id}`), [said, setSaid] = useState("");
  if (!data) return html`<h2>Run ${id}</h2><${Problem} error=${error} />`;
  const act = (doing) => () => doing().catch((problem) => setSaid(problem.message));
  const remove = async () => {
    if (!confirm(`Remove run ${id} and its weights?`)) return;
    await send(`api/runs/${id}`, {}, "DELETE");
    location.hash = link("runs");
  };
  const retry = async () => { await send("api/live", { run: id }); location.hash = link("train", { runs: id }); };
  const made = Object.entries(data.versions).map(([name, value]) => `${name} ${value}`).join(", ");
  const automaton = data.experiment === "automaton";
  return html`<h2>${data.about}</h2>
    <p class="quiet">Run <code>${data.id}</code>, ${data.status}${data.stopped ? ` (${data.stopped})` : ""} at step ${data.step}, ${data.seconds} s${made && html`; made with ${made}`}.</p>
    <${Problem} error=${data.error || said} />
    ${data.curve.length > 0 && html`<div class="card"><${Curve} curve=${data.curve} title=${data.about} /></div>`}
    <div class="row">
      ${automaton && html`<a class="button" href=${link("scrub", { run: id })}>Scrub through it</a>`}
      ${automaton && !isCopy() && html`<a class="button" href=${link("open", { run: id })}>Open it</a>`}
      ${!automaton && !isCopy() && html`<a class="button" href=${link("symbolic", { run: id })}>Ask it</a>`}
      <a class="button" href=${link("runs", { group: id })}>All seeds</a>
      ${mayChange() && data.status !== "done" && html`<button onClick=${act(retry)}>${data.status === "failed" ? "Retry" : "Train on"}</button>`}
      ${mayChange() && html`<button onClick=${act(remove)}>Remove</button>`}
    </div>
    <div class="cards"><section class="card"><h3>Again</h3>${data.command && html`<${Copy} title="Command line" text=${data.command} />`}${data.python && html`<${Copy} title="Python" text=${data.python} />`}</section>
      <section class="card"><h3>Config, where it differs from the defaults</h3><${Wide} label="Config"><table><tbody>${Object.entries(data.config).map(([name, value]) => html`<tr><td class="mono">${name}</td><td class="mono">${JSON.stringify(value)}</td></tr>`)}</tbody></table><//></section></div>`;
}

function OneGroup({ id }) {
  const { data, error } = useAnswer(`api/groups/${id}`);
  if (!data) return html`<h2>All seeds</h2><${Problem} error=${error} />`;
  return html`<h2>${data.about}</h2>
    <p>${data.recovered} of ${plural(data.done, "finished run")} recovered the gap${data.wilson && ` (95 % interval ${percent(data.wilson[0], 0)} to ${percent(data.wilson[1], 0)})`}; a run that has ended counts on where it ended.</p>
    ${data.done > 0 && html`<div class="card"><${Bands} bands=${data.bands} title=${data.about} /></div>`}
    <${Wide} label="Its runs"><table><caption>Its runs</caption><thead><tr><th>seed</th><th>run</th><th>status</th><th class="number">visible</th><th class="number">holdout</th></tr></thead>
      <tbody>${data.runs.map((one) => html`<tr><td>${one.seed}</td><td class="mono"><a href=${link("runs", { run: one.id })}>${one.id}</a></td><td>${one.status}</td><td class="number">${percent(one.visible)}</td><td class="number">${percent(one.holdout)}</td></tr>`)}</tbody></table><//>`;
}

function Pairs({ a, b }) {
  const { data, error } = useAnswer(`api/compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`);
  if (!data) return html`<h2>Two groups, seed by seed</h2><${Problem} error=${error} />`;
  const { counts } = data;
  return html`<h2>Two groups, seed by seed</h2>
    <p>${plural(data.pairs.length, "seed")} in both: ${counts.both} recovered by both, ${counts.a} by the first alone, ${counts.b} by the second alone, ${counts.neither} by neither
      (McNemar's exact test: p = ${data.p.toPrecision(2)}).${data.difference !== null && html` Holdout accuracy differs by ${percent(data.difference)} in the mean.`}</p>
    <div class="cards">${data.about.map((about, i) => html`<section class="card"><h3>${i ? "Second" : "First"}: <a href=${link("runs", { group: data.ids[i] })}>${about}</a></h3><${Bands} bands=${data.bands[i]} title=${about} /></section>`)}</div>
    <${Wide} label="Holdout accuracy in the end"><table><caption>Holdout accuracy in the end</caption><thead><tr><th>seed</th><th class="number">first</th><th class="number">second</th><th class="number">difference</th></tr></thead>
      <tbody>${data.pairs.map((one) => html`<tr><td>${one.seed}</td><td class="number">${percent(one.a)}</td><td class="number">${percent(one.b)}</td><td class="number">${percent(one.a - one.b)}</td></tr>`)}</tbody></table><//>`;
}
