// The ledger: every claim with its verdict, read one after the other so that the first are there at once.
import { html, useEffect, useState } from "./vendor/preact-htm.js";
import { change, link } from "./address.js";
import { Problem, Wide } from "./parts.js";
import { get, isCopy, useAnswer } from "./server.js";

const address = (name, scale) => `api/claim?name=${encodeURIComponent(name)}&scale=${scale}`;

export function Ledger({ at }) {
  const scale = at.scale ?? "desk", [found, setFound] = useState({});
  const look = (name) => get(address(name, scale)).catch((problem) => ({ error: problem.message }))
    .then((one) => setFound((all) => ({ ...all, [address(name, scale)]: one })));
  if (at.claim) return html`<${Claim} name=${at.claim} scale=${scale} />`;
  return html`<h2>Which claims hold?</h2>
    <p class="quiet">Every claim, of the paper and ours, beside what the runs of this store say. A number always carries its scale: a desk number is not a paper number.</p>
    ${!isCopy() && html`<div class="row"><label>Scale <select onChange=${(e) => change({ scale: e.target.value })}>${["desk", "paper", "smoke"].map((one) => html`<option value=${one} selected=${one === scale}>${one}</option>`)}</select></label></div>`}
    <${Claims} key=${scale} scale=${scale} found=${(name) => found[address(name, scale)]} look=${look} />`;
}

function Claims({ scale, found, look }) {
  const { data, error } = useAnswer(`api/claims?scale=${scale}`);
  useEffect(() => {
    let gone = false;
    (async () => {
      for (const one of data ?? []) {
        if (gone) return;
        if (one.done || (isCopy() && !one.planned)) await look(one.name);
      }
    })();
    return () => (gone = true);
  }, [data]);
  return html`<${Problem} error=${error} />
    ${!data && !error && html`<p class="quiet">Reading the claims …</p>`}
    ${data && [false, true].map((ours) => html`<h3>${ours ? "Ours" : "The paper's"}</h3><${Wide} label=${ours ? "Our claims" : "The paper's claims"}><table>
      <thead><tr><th>claim</th><th>verdict at ${scale} scale</th><th class="number">runs</th></tr></thead>
      <tbody>${data.filter((one) => one.ours === ours).map((one) => html`<tr key=${one.name}>
        <td>${one.claim}<div class="small"><a class="mono" href=${link("ledger", { claim: one.name, scale: scale === "desk" ? "" : scale })}>${one.name}</a></div></td>
        <td><${Verdict} one=${one} found=${found(one.name)} look=${look} /></td>
        <td class="number">${one.planned ? `${one.done}/${one.planned}` : "computed"}</td></tr>`)}</tbody></table><//>`)}`;
}

function Verdict({ one, found, look }) {
  const [busy, setBusy] = useState(false);
  if (found?.error) return html`<span class="small">${found.error}</span>`;
  if (found) return html`<span class=${/differs|not hold/.test(found.verdict) ? "wrong" : /reproduced|^holds/.test(found.verdict) ? "right" : ""}>${found.verdict || "no number to compare with"}</span>`;
  if (one.planned) return html`<span class="quiet">${one.done ? "…" : "not measured"}</span>`;
  if (isCopy()) return null;
  return html`<button disabled=${busy} onClick=${() => { setBusy(true); look(one.name); }}>${busy ? "Computing …" : "Compute"}</button>`;
}

function Claim({ name, scale }) {
  const { data, error, busy } = useAnswer(address(name, scale));
  return html`<p><a href=${link("ledger", { scale: scale === "desk" ? "" : scale })}>All claims</a></p><h2>${data?.claim ?? name}</h2>
    <${Problem} error=${error} />${busy && !data && html`<p class="quiet">Reading its runs …</p>`}
    ${data && html`<p>Verdict at ${scale} scale: <strong>${data.verdict || "no number to compare with"}</strong></p>
      ${data.tables.map((table) => html`<${Wide} label=${table.title}><table><caption>${table.title}</caption>
        <thead><tr>${table.columns.map((column) => html`<th class=${table.right.includes(column) ? "number" : ""}>${column}</th>`)}</tr></thead>
        <tbody>${table.rows.map((row) => html`<tr>${row.map((cell, i) => html`<td class=${table.right.includes(table.columns[i]) ? "number" : ""}>${cell}</td>`)}</tr>`)}</tbody></table><//>`)}
      ${data.groups.length > 0 && html`<p class="small">Its runs: ${data.groups.map((id, i) => html`<a href=${link("runs", { group: id })}>arm ${i + 1}</a> `)}</p>`}`}`;
}
