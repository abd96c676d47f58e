// Open it: the panels of a trained network beside those of the network that is constructed to compute the rule.
import { html, useState } from "./vendor/preact-htm.js";
import { change, link } from "./address.js";
import { Problem, Wide } from "./parts.js";
import { Choose, NoWeights } from "./scrub.js";
import { useAnswer } from "./server.js";

const PANELS = {
  polynomial: "Which products of cells the answer is made of: fitted to the logit, coefficient by coefficient. XOR is one term of all cells.",
  rule: "The truth table that the network computes, asked for every neighbourhood in many surroundings.",
  influence: "Which cells change the answer when they are flipped: a local rule listens to its neighbourhood alone.",
  lens: "How right the answer is if it is read out early, after each layer.",
  attention: "Where each head looks, by the offset from the cell that asks.",
  probes: "What a linear probe can read after each layer: the neighbours' bits, and the output.",
  patching: "Where a flipped neighbour's influence travels: activations of a clean row are put into a corrupted one.",
  neurons: "Hidden units that fire on one neighbourhood, or on one parity.",
  layers: "What is lost if a layer is taken out.",
  heads: "What is lost if a head is taken out.",
  positions: "How right it is at each position: on wide rows, some may have found their neighbours and others not.",
  consistency: "Whether its own predictions, fed back, agree with what is visible.",
};
const FIRST = ["polynomial", "rule", "lens", "attention", "probes", "patching", "neurons"];

export function Open({ at }) {
  if (!at.run) return html`<${Choose} view="open" words="a network that can be opened" />`;
  return html`<${Opened} key=${at.run} at=${at} />`;
}

function Opened({ at }) {
  const [again, setAgain] = useState(0);
  const name = Object.hasOwn(PANELS, at.panel ?? "") ? at.panel : "rule", { data, error } = useAnswer(`api/film/${at.run}${again ? `?again=${again}` : ""}`);
  if (data && !data.frames.length) return html`<${NoWeights} id=${at.run} about=${data.about} done=${() => setAgain(again + 1)} />`;
  return html`<h2>${data?.about ?? `Run ${at.run}`}</h2>
    <p class="quiet">What this network computes with, beside a network whose weights were written down so that it computes the rule exactly. <a href=${link("scrub", { run: at.run })}>Scrub through its training</a></p>
    <${Problem} error=${error} />
    <div class="row" role="group" aria-label="Analyses">${[...FIRST, ...Object.keys(PANELS).filter((one) => !FIRST.includes(one))].map((one) => html`<button aria-pressed=${one === name} onClick=${() => change({ panel: one })}>${one}</button>`)}</div>
    <p>${PANELS[name]}</p>
    ${data && html`<div class="cards"><${Panel} key=${`t${name}`} run=${at.run} name=${name} of="trained" /><${Panel} key=${`c${name}`} run=${at.run} name=${name} of="constructed" /></div>`}`;
}

function Panel({ run, name, of }) {
  const words = `panel=${name}&of=${of}`, { data, error } = useAnswer(`api/open/${run}/finding?${words}`);
  const [drawn, setDrawn] = useState(false);
  return html`<section class="card" aria-busy=${!drawn}><h3>The ${of} network</h3><${Problem} error=${error} />
    ${!drawn && !error && html`<p class="quiet" role="status">Opening it …</p>`}
    ${data && html`<img class="panel" src=${`api/open/${run}/panel.svg?${words}`} alt=${`${name} of the ${of} network. ${data.says}`} onLoad=${() => setDrawn(true)} width="560" height="460" />`}
    ${data?.table && html`<details><summary>As a table</summary><${Wide} label=${data.table.title || name}><table><caption>${data.table.title}</caption>
      <thead><tr>${data.table.columns.map((one) => html`<th>${one}</th>`)}</tr></thead><tbody>${data.table.rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody></table><//></details>`}</section>`;
}
