import { html, render, useErrorBoundary, useState } from "./vendor/preact-htm.js";
import { link, useAddress } from "./address.js";
import { Problem } from "./parts.js";
import { copied, isCopy, takeToken } from "./server.js";
import { Explore } from "./explore.js";
import { Ledger } from "./ledger.js";
import { Open } from "./open.js";
import { Runs } from "./runs.js";
import { Scrub } from "./scrub.js";
import { Symbolic } from "./symbolic.js";
import { Train } from "./train.js";

const VIEWS = {
  explore: ["Explore", Explore],
  train: ["Train", Train],
  scrub: ["Scrub", Scrub],
  open: ["Open", Open],
  symbolic: ["Symbolic", Symbolic],
  ledger: ["Ledger", Ledger],
  runs: ["Runs", Runs],
};

// How each view was left: its tab leads back there, and from within it to its beginning.
const last = {};
const left = (name) => last[name] ?? (name === "train" && last.explore?.hide ? { rule: last.explore.rule, hide: last.explore.hide } : {});

function App() {
  const { view: named, at } = useAddress(), view = Object.hasOwn(VIEWS, named) ? named : "explore";
  const [title, View] = VIEWS[view];
  last[view] = at;
  document.title = `${title} · hardgap`;
  return html`
    <a class="skip" href="#main" onClick=${toMain}>To the content</a>
    <header>
      <h1>hardgap</h1>
      <nav aria-label="Views">
        ${Object.entries(VIEWS).filter(([name]) => !isCopy() || copied().views.includes(name)).map(([name, [words]]) => html`
          <a href=${link(name, name === view ? {} : left(name))} aria-current=${name === view ? "page" : null}>${words}</a>`)}
      </nav>
      ${isCopy() && html`<span class="quiet small">a copy to read; <code>hardgap ui</code> trains</span>`}
    </header>
    <main id="main" tabindex="-1"><${Shown} key=${view} View=${View} at=${at} /></main>`;
}

// A view that breaks says so, and the next address is tried again.
function Shown({ View, at }) {
  const [broken, setBroken] = useState(null);
  useErrorBoundary((error) => setBroken({ at, error }));
  if (broken?.at === at) return html`<${Problem} error=${`This view cannot be shown (${broken.error.message}): choose one above.`} />`;
  return html`<${View} at=${at} />`;
}

function toMain(event) {
  event.preventDefault(); // the address is the page's state
  document.getElementById("main").focus();
}

takeToken();
if (isCopy() && !location.hash) history.replaceState(null, "", copied().start);
const root = document.getElementById("app");
root.replaceChildren();
render(html`<${App} />`, root);
