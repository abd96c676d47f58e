// Train live: describe a run, start it, and watch its curve and the network's own rollout as it learns.
import { html, useEffect, useMemo, useReducer, useState } from "./vendor/preact-htm.js";
import { change, link } from "./address.js";
import { Cells } from "./cells.js";
import { Curve } from "./chart.js";
import { Copy, percent, Problem } from "./parts.js";
import { get, mayChange, send, useAnswer } from "./server.js";

const SECOND = {
  "": ["nothing", {}],
  none: ["without unrolling (one step)", { feedback: "none", temperature: "" }],
  hard: ["hard feedback", { feedback: "hard", temperature: "" }],
  plain: ["T = 1, the paper's", { feedback: "soft", temperature: "1", recipe: "paper" }],
  tempered: ["the tempered recipe (T = 8)", { feedback: "", temperature: "", recipe: "tempered" }],
};
const FIELDS = ["rule", "hide", "recipe", "scale", "feedback", "temperature", "seed"];

export function Train({ at }) {
  const chosen = { rule: "150", hide: "2", seed: "0", ...Object.fromEntries(FIELDS.filter((name) => at[name]).map((name) => [name, at[name]])) };
  const both = [chosen, ...(at.beside && Object.hasOwn(SECOND, at.beside) ? [{ ...chosen, ...SECOND[at.beside][1] }] : [])];
  const [error, setError] = useState("");
  const start = async (paused) => {
    setError("");
    try {
      const ids = [];
      for (const one of both) ids.push((await send("api/live", { ...said(one), paused })).id);
      change({ runs: ids.join(",") });
    } catch (problem) { setError(problem.message); }
  };
  const ids = (at.runs ?? "").split(",").filter(Boolean);
  return html`<h2>Train a network across the gap</h2>
    <p class="quiet">It learns from the visible cells alone. Training goes on in a process of its own: closing this page loses nothing.</p>
    <${Choices} at=${at} chosen=${chosen} />
    <div class="row">
      <button class="first" disabled=${!mayChange()} onClick=${() => start(false)}>${both.length > 1 ? "Start both" : "Start"}</button>
      <button disabled=${!mayChange()} onClick=${() => start(true)}>Start paused</button>
      <button onClick=${() => change({ seed: Number(chosen.seed) + 1, runs: "" })}>Reseed</button>
      ${ids.length > 0 && html`<button onClick=${() => change({ runs: "" })}>Clear</button>`}
      ${!mayChange() && html`<span class="small">Open the address that <code>hardgap ui</code> printed to start something here.</span>`}
    </div>
    <${Problem} error=${error} />
    <${Others} at=${at} ids=${ids} />
    <div class="cards">${ids.map((id) => html`<${Watched} key=${id} id=${id} />`)}</div>
    ${both.map((one, i) => html`<${Plan} key=${i} words=${one} title=${both.length > 1 ? (i ? "The second" : "The first") : "The same elsewhere"} />`)}`;
}

// Runs that train and are not watched here: they go on, whatever is chosen above.
function Others({ at, ids }) {
  const [live, setLive] = useState([]);
  useEffect(() => {
    let timer, gone = false;
    const look = () => get("api/live").then((found) => { if (!gone) { setLive(found.live ?? found); timer = setTimeout(look, 3000); } }, () => {});
    look();
    return () => { gone = true; clearTimeout(timer); };
  }, [at.runs]);
  const others = live.filter((one) => !ids.includes(one.id));
  return others.length > 0 && html`<p>Training now: ${others.map((one, i) => html`${i ? "; " : ""}<a href=${link("train", { ...at, runs: [...ids, one.id].join(",") })}>${one.about}</a>${one.state === "paused" ? " (paused)" : ""}`)}</p>`;
}

const said = (words) => Object.fromEntries(Object.entries(words).filter(([, value]) => value !== "" && value !== undefined));

function Choices({ at, chosen }) {
  const set = (name) => (event) => change({ [name]: event.target.value, runs: "" });
  const recipe = at.recipe ?? "paper", soft = (at.feedback || "soft") === "soft";
  const degrees = at.temperature || (recipe === "tempered" ? "8" : "1");
  const pick = (name, words, value, options) => html`<label>${words}<select onChange=${set(name)}>
    ${options.map(([key, text]) => html`<option value=${key} selected=${key === value}>${text}</option>`)}</select></label>`;
  return html`<div class="row">
      <label>Rule<input value=${chosen.rule} size="10" onChange=${set("rule")} /></label>
      <label>Hidden entries<input value=${chosen.hide} size="10" onChange=${set("hide")} /></label>
      <a class="button" href=${link("explore", { rule: chosen.rule, hide: chosen.hide })}>See the gap</a>
      ${pick("recipe", "Recipe", recipe, [["paper", "paper"], ["tempered", "tempered"]])}
      ${pick("feedback", "Fed back", at.feedback ?? "", [["", "soft"], ["hard", "hard"], ["none", "none"]])}
      ${pick("scale", "Scale", at.scale ?? "", [["", "desk: a minute"], ["smoke", "smoke: shows nothing"], ["paper", "paper: hours"]])}
      <label>Seed<input type="number" min="0" value=${chosen.seed} onChange=${set("seed")} style="width:5rem" /></label>
    </div><div class="row">
      <label>Temperature of the feedback: T = ${degrees}<input type="range" min="0" max="4" step="0.25" disabled=${!soft} value=${Math.log2(degrees)}
        aria-valuetext=${`T = ${degrees}`} onInput=${(e) => change({ temperature: String(Number((2 ** e.target.value).toPrecision(3))), runs: "" })} /></label>
      ${pick("beside", "Beside it, the same with", at.beside ?? "", Object.entries(SECOND).map(([key, [text]]) => [key, text]))}
    </div>`;
}

function Plan({ words, title }) {
  const { data, error } = useAnswer(`api/plan?${new URLSearchParams(said(words))}`);
  return html`<section class="card" style="margin-top:1rem"><h3>${title}</h3><${Problem} error=${error} />
    ${data && html`<p class="small">${data.about}; at most ${data.steps} steps; run <span class="mono">${data.id}</span>.</p>
      ${data.command && html`<${Copy} title="Command line" text=${data.command} />`}${data.python && html`<${Copy} title="Python" text=${data.python} />`}`}</section>`;
}

// A run as its events tell it. After a lost line the browser asks again from the last evaluation that it has.
function useEvents(id) {
  const [again, restart] = useReducer((n) => n + 1, 0);
  const [state, tell] = useReducer((old, [kind, data]) => {
    if (kind === "new") return { curve: [], now: {} };
    if (kind === "point") return { ...old, curve: [...old.curve.filter((p) => p.step < data.step), data] };
    return { ...old, now: data, ended: kind === "end" };
  }, { curve: [], now: {} });
  useEffect(() => {
    tell(["new"]);
    const source = new EventSource(`api/live/${id}/events`);
    for (const kind of ["point", "now", "end"]) source.addEventListener(kind, (event) => {
      tell([kind, JSON.parse(event.data)]);
      if (kind === "end") source.close();
    });
    return () => source.close();
  }, [id, again]);
  return [state, restart];
}

export function Watched({ id }) {
  const [{ curve, now, ended }, follow] = useEvents(id);
  const film = useAnswer(`api/film/${id}`).data, [error, setError] = useState("");
  const act = (word) => async () => {
    setError("");
    try {
      if (word === "rewind" && now.status === "done" && !confirm("Forget this result and train again from the same weights?")) return;
      await send(`api/live/${id}`, { do: word });
      if (ended || word === "rewind") follow();
    } catch (problem) { setError(problem.message); }
  };
  const last = curve.at(-1), going = now.state === "training" && now.status !== "done", state = now.status === "done" ? "done" : now.state === "resting" ? now.status : now.state ?? "…";
  const rested = ended && film?.frames.length && !now.probabilities ? `api/film/${id}/frame?step=${film.frames.at(-1)}` : "";
  const kept = useAnswer(rested).data;
  const likely = useMemo(() => now.probabilities ?? kept?.probabilities, [JSON.stringify(now.probabilities), kept]);
  return html`<section class="card" aria-label=${film?.about ?? `Run ${id}`}>
    <h3>${film?.about ?? id}</h3>
    <p role="status" class="small">${state}, step ${now.step ?? 0}${last && html`: visible ${percent(last.visible)}, <strong>holdout ${percent(last.holdout)}</strong>`}</p>
    <${Problem} error=${error || now.error} />
    <${Curve} curve=${curve} title=${film?.about ?? id} />
    ${film && html`<${Rollouts} film=${film} likely=${likely}
      waits=${now.status !== "done" ? "after its first evaluation" : film.frames.length ? "…" : "this result came without weights: scrubbing makes them again"} />`}
    ${mayChange() && html`<div class="row">
      ${going ? html`<button onClick=${act("pause")}>Pause</button>` : html`<button disabled=${now.status === "done"} onClick=${act("resume")}>Resume</button>`}
      <button disabled=${now.status === "done"} onClick=${act("step")}>Single step</button>
      <button disabled=${ended} onClick=${act("stop")}>Stop</button>
      <button onClick=${act("rewind")}>Rewind</button></div>`}
    ${now.status === "done" && html`<div class="row"><a class="button" href=${link("scrub", { run: id })}>Scrub through it</a><a class="button" href=${link("open", { run: id })}>Open it</a></div>`}
  </section>`;
}

// The network's own free run beside the true one: the darker a cell, the more probable a 1; orange is wrong.
export function Rollouts({ film, likely, waits }) {
  const hidden = film.hidden_cells.map((row) => row.map(Boolean));
  const wrong = likely?.map((row, t) => row.map((p, x) => (p > 0.5) !== Boolean(film.rows[t][x])));
  const count = wrong?.flat().filter(Boolean).length;
  return html`<div class="split narrow">
      <figure><figcaption class="small">True rollout</figcaption><${Cells} rows=${film.rows} hidden=${hidden} size=${20} label="The true rollout, hidden cells framed" /></figure>
      <figure><figcaption class="small">The network's own</figcaption>${likely ? html`<${Cells} rows=${likely} hidden=${hidden} wrong=${wrong} shades size=${20}
        label=${`The network's own rollout: ${count} of ${film.rows.flat().length} cells wrong`} />` : html`<p class="small quiet">${waits}</p>`}</figure>
    </div><ul class="legend"><li><i class="one"></i>1</li><li><i style="background:var(--soft)"></i>between: how probable it holds a 1</li><li><i class="hid"></i>hidden</li><li><i class="err"></i>wrong</li><li><i class="vis"></i>… at a visible cell</li></ul>`;
}
