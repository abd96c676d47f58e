// Scrub: a finished run as a film. One slider moves curve, rollout, attention, table and lens together.
import { html, useEffect, useState } from "./vendor/preact-htm.js";
import { change, link } from "./address.js";
import { bits } from "./cells.js";
import { Curve, transition } from "./chart.js";
import { percent, plural, Problem, Wide } from "./parts.js";
import { get, isCopy, mayChange, send, useAnswer } from "./server.js";
import { Rollouts } from "./train.js";

export function Scrub({ at }) {
  if (!at.run) return html`<${Choose} view="scrub" words="a film" />`;
  return html`<${Film} key=${at.run} id=${at.run} at=${at} />`;
}

// Runs that are done and whose weights are here: what can be scrubbed through, opened or asked.
export function Choose({ view, words, where = "experiment=automaton" }) {
  const { data, error } = useAnswer(`api/runs?page=0&size=50&sort=-created&where=${encodeURIComponent(where)}&where=status%3Ddone&kept=1`);
  return html`<h2>Choose a run</h2><p class="quiet">A finished run is ${words}; the newest are listed, and every run's own page leads here, too.</p><${Problem} error=${error} />
    ${data && html`<${Wide} label="Runs"><table><thead><tr><th>run</th><th>what</th><th class="number">holdout</th></tr></thead><tbody>${data.rows.map((one) => html`<tr>
      <td class="mono"><a href=${link(view, { run: one.id })}>${one.id}</a></td><td>${one.about}</td><td class="number">${percent(one.holdout)}</td></tr>`)}</tbody></table><//>
      ${!data.rows.length && html`<p>${isCopy() ? "This copy holds none." : view === "symbolic" ? "There is none yet." : html`There is none yet: <a href=${link("train")}>train one</a>.`}</p>`}
      ${data.others > 0 && !isCopy() && html`<p class="quiet">Without weights here: <a href=${link("runs", { where: `${where}; status=done` })}>${plural(data.others, "finished run")}</a>. Choose one there to make its weights again.</p>`}`}`;
}

function Film({ id, at }) {
  const [again, setAgain] = useState(0);
  const film = useAnswer(`api/film/${id}${again ? `?again=${again}` : ""}`);
  const [frames, setFrames] = useState({}), steps = film.data?.frames ?? [];
  const cross = film.data && transition(film.data.curve), first = steps.find((step) => step >= (cross ?? Infinity)) ?? steps.at(-1);
  const step = steps.includes(Number(at.step)) && at.step !== undefined ? Number(at.step) : first, place = steps.indexOf(step);
  useEffect(() => {
    let gone = false;
    (async () => {
      for (const one of [step, ...steps].filter((s) => s !== undefined)) {
        if (gone) return;
        if (!frames[one]) await get(`api/film/${id}/frame?step=${one}`).then((found) => setFrames((all) => ({ ...all, [one]: found })), (problem) => setFrames((all) => ({ ...all, [one]: { error: problem.message } })));
      }
    })();
    return () => (gone = true);
  }, [film.data]);
  const [playing, setPlaying] = useState(false);
  useEffect(() => {
    if (!playing) return;
    const timer = setTimeout(() => (place + 1 < steps.length ? change({ step: steps[place + 1] }) : setPlaying(false)), 600);
    return () => clearTimeout(timer);
  }, [playing, place]);
  if (!film.data) return html`<h2>Run ${id}</h2><${Problem} error=${film.error} />${film.busy && html`<p class="quiet" role="status">Looking for its weights …</p>`}`;
  if (!steps.length && !isCopy()) return html`<${NoWeights} id=${id} about=${film.data.about} done=${() => setAgain(again + 1)} />`;
  const frame = frames[step], made = Object.keys(frames).length;
  const curve = film.data.curve, at_step = curve.findLast((point) => point.step <= step);
  return html`<h2>${film.data.about}</h2>
    ${film.data.replica && html`<p class="error">A replica: the same config trained again on another machine, which rounds otherwise. Its curve is its own.</p>`}
    ${steps.length === 1 && html`<${NoWeights} id=${id} about="" done=${() => setAgain(again + 1)} />`}
    <div class="row"><label style="flex:1">Step ${step}: frame ${place + 1} of ${steps.length}${made < steps.length ? html` <span class="quiet">(${made} looked at)</span>` : ""}
      <input type="range" min="0" max=${steps.length - 1} value=${place} aria-valuetext=${`step ${step}`} onInput=${(e) => change({ step: steps[e.target.value] })} /></label>
      <button onClick=${() => { if (!playing && place === steps.length - 1) change({ step: steps[0] }); setPlaying(!playing); }}>${playing ? "Pause" : "Play"}</button></div>
    <p role="status">${at_step && html`Visible ${percent(at_step.visible)}, <strong>holdout ${percent(at_step.holdout)}</strong>`}${cross === undefined ? ": the gap does not close." : step === cross ? ": the moment of discovery." : `: ${step < cross ? "before" : "after"} the moment of discovery, at step ${cross}.`}</p>
    <div class="cards">
      <section class="card"><h3>Curve</h3><${Curve} curve=${curve} title=${film.data.about} at=${step} onStep=${(s) => change({ step: steps.reduce((a, b) => (Math.abs(b - s) < Math.abs(a - s) ? b : a)) })} /></section>
      ${!frame ? html`<section class="card"><p class="quiet">Looking at the network of step ${step} …</p></section>` : frame.error ? html`<section class="card"><${Problem} error=${frame.error} /></section>` : html`
      <section class="card"><h3>Its own rollout</h3><${Rollouts} film=${film.data} likely=${frame.probabilities} /></section>
      <${Recovered} film=${film.data} frame=${frame} /><${Attention} frame=${frame} /><${Lens} frame=${frame} />`}
    </div>
    ${!isCopy() && html`<p>Take it along: <a class="button" download href=${`api/film/${id}/film.gif`}>animated GIF</a> <a class="button" download href=${`api/film/${id}/film.html`}>one HTML file</a></p>`}`;
}

export function NoWeights({ id, about, done }) {
  const [said, setSaid] = useState(""), [error, setError] = useState("");
  const make = async () => {
    try {
      await send(`api/live/${id}`, { do: "retrain" });
      const source = new EventSource(`api/live/${id}/events?after=999999999`);
      const hear = (event) => { const now = JSON.parse(event.data); setSaid(now.step !== undefined && now.of ? `training again: step ${now.step} of ${now.of}` : "training again …"); if (now.error) setError(now.error); };
      source.addEventListener("now", hear);
      source.addEventListener("end", (event) => { hear(event); source.close(); done(); });
    } catch (problem) { setError(problem.message); }
  };
  const why = about ? "This result came without weights." : "Only the weights of its end are here.";
  return html`${about && html`<h2>${about}</h2>`}<p>${why} Training it again, from the same config, makes them all; its curve is compared, not replaced.</p>
    <${Problem} error=${error} /><div class="row"><button class="first" disabled=${!mayChange() || said} onClick=${make}>Make its weights again</button><span role="status">${said}</span></div>`;
}

function Recovered({ film, frame }) {
  const hidden = new Set(film.hidden);
  return html`<section class="card"><h3>The table that it computes</h3><ul class="entries">${frame.table.map((one, p) => html`<li class="entry mono" key=${p} aria-label=${
      `${bits(p, film.radius)} → ${one.output}, in ${percent(one.confidence, 0)} of contexts${hidden.has(p) ? ", never shown" : ""}${one.output === film.table[p] ? "" : ", wrong"}`}>
    <span class=${hidden.has(p) ? "wrong" : ""}>${bits(p, film.radius)}</span><span class=${`out ${one.output === film.table[p] ? "" : "wrong"}`}>${one.output}${one.output === film.table[p] ? "" : " ✗"}</span>
    <span class="small quiet">${percent(one.confidence, 0)}</span></li>`)}</ul>
    <p class="small quiet">Orange entries were never shown; ✗ is wrong. Below: in how many contexts it answers so.</p></section>`;
}

function Attention({ frame }) {
  if (frame.attention.reason) return html`<section class="card"><h3>Attention by offset</h3><p>${frame.attention.reason}</p></section>`;
  const offsets = Object.keys(frame.attention[0].weights).map(Number).sort((a, b) => a - b);
  return html`<section class="card"><h3>Attention by offset</h3><${Wide} label="Attention by offset"><table><thead><tr><th>head</th>${offsets.map((o) => html`<th class="number">${o > 0 ? "+" : ""}${o}</th>`)}</tr></thead>
    <tbody>${frame.attention.map((head) => html`<tr><td>${head.title}</td>${offsets.map((o) => html`<td class="number heat" style=${{ "--heat": `${Math.round(100 * head.weights[o])}%` }}>${Math.round(100 * head.weights[o])}</td>`)}</tr>`)}</tbody></table><//>
    <p class="small quiet">Where each head looks, in % of its weight; 0 is the cell itself.</p></section>`;
}

function Lens({ frame }) {
  if (frame.lens.reason) return html`<section class="card"><h3>Logit lens</h3><p>${frame.lens.reason}</p></section>`;
  const bar = (share, kind) => html`<td class="number"><span class=${`bar ${kind}`} style=${{ width: `${4 * (share ?? 0)}rem` }}></span> ${percent(share, 0)}</td>`;
  return html`<section class="card"><h3>Logit lens</h3><table><thead><tr><th>read out after</th><th class="number">visible</th><th class="number">holdout</th></tr></thead>
    <tbody>${frame.lens.map((one) => html`<tr><td>${one.title}</td>${bar(one.visible, "miss")}${bar(one.holdout, "")}</tr>`)}</tbody></table>
    <p class="small quiet">How right the network's own readout is, level by level.</p></section>`;
}
