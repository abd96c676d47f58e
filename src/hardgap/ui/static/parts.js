// Small parts that several views share.
import { html, useState } from "./vendor/preact-htm.js";

export const percent = (share, digits = 1) => (share === null || share === undefined ? "–" : `${(100 * share).toFixed(digits)} %`);
export const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

export const Problem = ({ error }) => error && html`<p class="error" role="alert">${error}</p>`;

// What may be wider than the screen moves by itself, with the keyboard too.
export const Wide = ({ label, children }) => html`<div class="scroll" tabindex="0" role="region" aria-label=${label}>${children}</div>`;

export function Copy({ title, text }) {
  const [said, setSaid] = useState("");
  const copy = () => navigator.clipboard.writeText(text).then(() => setSaid("copied"), () => setSaid("select it to copy"));
  return html`<div>
    <div class="row"><span class="small quiet">${title}</span>
      <button onClick=${copy} aria-label=${`Copy: ${title}`}>Copy</button><span class="small" role="status">${said}</span></div>
    <pre tabindex="0" aria-label=${title}><code>${text}</code></pre></div>`;
}
