// Symbolic: five integers, the derivation that a network writes for them, and how sure it is of every token.
import { html, useEffect, useState } from "./vendor/preact-htm.js";
import { change } from "./address.js";
import { percent, Problem } from "./parts.js";
import { Choose, NoWeights } from "./scrub.js";
import { useAnswer } from "./server.js";

const EXAMPLE = "12 7 33 43 21";
const path = (run, words) => `api/ask/${run}?${new URLSearchParams(words)}`;

export function Symbolic({ at }) {
  if (!at.run) return html`<${Choose} view="symbolic" words="a network that can be asked" where="experiment=symbolic" />`;
  return html`<${Asked} key=${at.run} run=${at.run} numbers=${at.numbers ?? EXAMPLE} to=${at.to ?? ""} />`;
}

function Asked({ run, numbers, to }) {
  const [again, setAgain] = useState(0);
  const { data, error } = useAnswer(path(run, { numbers, ...(again && { again }) })), other = useAnswer(to ? path(run, { numbers, to }) : "");
  const names = data?.names ?? ["a", "b", "c", "d", "u"];
  if (/has no weights/.test(error)) return html`<${NoWeights} id=${run} about=${`Run ${run}`} done=${() => setAgain(again + 1)} />`;
  return html`<h2>${data?.about ?? `Run ${run}`}</h2>
    <p class="quiet">A pair of operators turns a, b, c into d: (a op1 b) op2 c = d. The network is shown a, b, c, d and a fresh operand u, and derives which operators did it. One pair was never shown in training.</p>
    <${Numbers} numbers=${numbers.split(/[\s,]+/)} names=${names} most=${data?.most ?? 63} />
    <${Problem} error=${error} />
    ${data && html`<div class="row" role="group" aria-label="Swap c and d"><span class="small quiet">Swap (c, d) for values that another second operator explains:</span>
      ${data.symbols.map((one) => html`<button class="mono" aria-pressed=${one === to} aria-label=${`Swap c and d so that the second operator is ${one}`} onClick=${() => change({ to: one === to ? "" : one })}>${one}</button>`)}</div>`}
    <div class="cards">${data && !error && html`<${Reply} data=${data} title="As typed" />`}
      ${to && html`<${Reply} data=${other.data} error=${other.error} title=${`c and d swapped for ${to}`} before=${data} />`}</div>`;
}

function Numbers({ numbers, names, most }) {
  const [typed, setTyped] = useState(numbers);
  useEffect(() => setTyped(numbers), [numbers.join(" ")]);
  const submit = (event) => { event.preventDefault(); change({ numbers: typed.join(" ") }); };
  const draw = () => change({ numbers: names.map(() => Math.floor(Math.random() * (most + 1))).join(" ") });
  return html`<form class="row" onSubmit=${submit}>
    ${names.map((name, i) => html`<label>${name}<input type="number" min="0" max=${most} style="width:5rem" value=${typed[i] ?? ""}
      onInput=${(e) => setTyped(names.map((_, j) => (i === j ? e.target.value : typed[j] ?? "0")))} /></label>`)}
    <button class="first">Derive</button><button type="button" onClick=${draw}>Other numbers</button></form>`;
}

function Reply({ data, error, title, before }) {
  if (error) return html`<section class="card"><h3>${title}</h3><${Problem} error=${error} /></section>`;
  if (!data) return html`<section class="card"><h3>${title}</h3><p class="quiet">…</p></section>`;
  const some = data.fitting.slice(0, 8).join(", ") + (data.fitting.length > 8 ? " …" : "");
  return html`<section class="card"><h3>${title}: ${data.numbers.join(" ")}</h3>
    <ol class="entries" aria-label="Derivation">${data.tokens.map((one) => html`<li class="entry mono"><span class="small quiet">${one.place}</span><span class="out">${one.token}</span>
      <span class=${`small ${one.confidence < 0.9 ? "wrong" : "quiet"}`}>${percent(one.confidence, 0)}</span></li>`)}</ol>
    <p>${data.right ? html`<span class="right">A right derivation.</span>` : html`<span class="wrong">Not a right derivation.</span>`}
      ${" "}${!data.fitting.length ? "No pair of operators explains these numbers." : data.fitting.length === 1 ? html`The only pair that explains them is <code>${some}</code>.` : html`${data.fitting.length} pairs explain them: <code>${some}</code>.`}
      ${data.operators ? html` The network says <code>${data.operators}</code>.` : " The network names none."}</p>
    ${before?.operators && data.operators && html`<p>Its second operator ${before.operators[1] === data.operators[1] ? "stays" : html`<strong>flips</strong>`}: <code>${before.operators}</code> became <code>${data.operators}</code>.</p>`}
    ${data.truth && !data.right && html`<p class="small">It should be <code>${data.truth}</code>.</p>`}</section>`;
}
