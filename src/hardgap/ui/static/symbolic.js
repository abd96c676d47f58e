// Symbolic: five integers, the derivation that a network writes for them, and how sure it is of every token.
import { html, useEffect, useState } from "./vendor/preact-htm.js";
import { change } from "./address.js";
import { percent, Problem } from "./parts.js";
import { Choose } from "./scrub.js";
import { useAnswer } from "./server.js";

const EXAMPLE = "12 7 33 43 21";

export function Symbolic({ at }) {
  if (!at.run) return html`<${Choose} view="symbolic" words="a network that can be asked" where="experiment=symbolic" />`;
  const numbers = (at.numbers ?? EXAMPLE).split(/[\s,]+/).filter(Boolean);
  const asked = useAnswer(`api/ask/${at.run}?${new URLSearchParams({ numbers: numbers.join(" ") })}`);
  const swapped = [...numbers];
  if (numbers.length === 5) [swapped[2], swapped[3]] = [numbers[3], numbers[2]];
  const other = useAnswer(at.swap === "1" && numbers.length === 5 ? `api/ask/${at.run}?${new URLSearchParams({ numbers: swapped.join(" ") })}` : "");
  return html`<h2>${asked.data?.about ?? `Run ${at.run}`}</h2>
    <p class="quiet">A pair of operators turns a, b, c into d: (a op₁ b) op₂ c = d. The network is shown the four numbers and a fresh operand u, and writes which operators did it. One pair of operators was never shown in training.</p>
    <${Numbers} numbers=${numbers} names=${asked.data?.names ?? ["a", "b", "c", "d", "u"]} swap=${at.swap === "1"} />
    <${Problem} error=${asked.error} />
    <div class="cards">${asked.data && !asked.error && html`<${Reply} data=${asked.data} title="As typed" />`}
      ${at.swap === "1" && html`<section class="card"><${Problem} error=${other.error} />${other.data && html`<${Reply} data=${other.data} title="With c and d swapped" plain />
        ${asked.data?.operators && other.data.operators && html`<p>The second operator ${asked.data.operators.slice(-1) === other.data.operators.slice(-1) ? "stays" : html`<strong>flips</strong>`}: <code>${asked.data.operators}</code>, then <code>${other.data.operators}</code>.</p>`}`}</section>`}</div>`;
}

function Numbers({ numbers, names, swap }) {
  const [typed, setTyped] = useState(numbers);
  useEffect(() => setTyped(numbers), [numbers.join(" ")]);
  const submit = (event) => { event.preventDefault(); change({ numbers: typed.join(" ") }); };
  return html`<form class="row" onSubmit=${submit}>
    ${names.map((name, i) => html`<label>${name}<input type="number" min="0" max="63" style="width:5rem" value=${typed[i] ?? ""} onInput=${(e) => setTyped(names.map((_, j) => (i === j ? e.target.value : typed[j] ?? "0")))} /></label>`)}
    <button class="first">Derive</button>
    <button type="button" onClick=${() => change({ numbers: names.map(() => Math.floor(Math.random() * 64)).join(" ") })}>Other numbers</button>
    <button type="button" aria-pressed=${swap} onClick=${() => change({ swap: swap ? "" : "1" })}>Swap c and d beside it</button></form>`;
}

function Reply({ data, title, plain }) {
  const body = html`<h3>${title}: ${data.numbers.join(" ")}</h3>
    <ol class="entries" aria-label="Derivation">${data.tokens.map((one) => html`<li class="entry mono" aria-label=${`${one.place}: ${one.token}, certainty ${percent(one.confidence, 0)}`}><span class="small quiet">${one.place}</span><span class="out">${one.token}</span>
      <span class=${`small ${one.confidence < 0.9 ? "wrong" : "quiet"}`}>${percent(one.confidence, 0)}</span></li>`)}</ol>
    <p>${data.right ? html`<span class="right">A right derivation.</span>` : html`<span class="wrong">Not a right derivation.</span>`}
      ${" "}${data.fitting.length === 0 ? "No pair of operators explains these numbers." : `${data.fitting.length === 1 ? "The only pair that explains them is" : `${data.fitting.length} pairs explain them:`} ${data.fitting.slice(0, 8).join(", ")}${data.fitting.length > 8 ? " …" : ""}.`}
      ${data.operators ? html` The network says <code>${data.operators}</code>.` : " The network names none."}</p>
    ${data.truth && !data.right && html`<p class="small">It should be <code>${data.truth}</code>.</p>`}`;
  return plain ? body : html`<section class="card">${body}</section>`;
}
