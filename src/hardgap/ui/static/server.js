// Asking the server; or, in a copy without one, the data that was written with it.
import { useEffect, useState } from "./vendor/preact-htm.js";

const TOKEN = "hardgap-token";

// The token comes once, in the address that `hardgap ui` prints, and is kept out of every link made from here. Every tab has it.
export function takeToken() {
  const given = new URLSearchParams(location.search).get("token");
  if (!given) return;
  localStorage.setItem(TOKEN, given);
  history.replaceState(null, "", location.pathname + location.hash);
}
export const isCopy = () => Boolean(document.getElementById("kept"));
// Of a copy: its views, and the address that it opens with.
export const copied = () => kept();
const kept = () => (kept.read ||= JSON.parse(document.getElementById("kept").textContent));
export const mayChange = () => !isCopy() && Boolean(localStorage.getItem(TOKEN));

export async function get(path) {
  return isCopy() ? fromCopy(path) : answered(await fetch(path));
}

export async function send(path, body = {}, method = "POST") {
  const headers = { "Content-Type": "application/json", "X-Hardgap-Token": localStorage.getItem(TOKEN) || "" };
  const response = await fetch(path, { method, headers, body: JSON.stringify(body) });
  if (response.status === 403) localStorage.removeItem(TOKEN); // of a server that has ended
  return answered(response);
}

async function answered(response) {
  const found = await response.json().catch(() => null);
  if (!response.ok || !found) throw new Error(found?.error ?? `the server answered ${response.status}`);
  return found;
}

// What was asked for when the copy was made stands in it by its address; large parts in files beside it.
async function fromCopy(path) {
  const { answers, files } = kept();
  if (path in answers) return answers[path];
  const file = files[path];
  if (!file) throw new Error("this copy does not hold that: `hardgap ui` answers it");
  await new Promise((done, failed) => {
    const script = document.createElement("script");
    Object.assign(script, { src: file, onload: done, onerror: () => failed(new Error(`${file} is missing`)) });
    document.head.append(script);
  });
  Object.assign(answers, globalThis.hardgapKept);
  return answers[path];
}

// An answer that follows its address: { data, error, busy, path }. What was there stays until the next is; `path` is what it answers.
export function useAnswer(path) {
  const [state, setState] = useState({ busy: true });
  useEffect(() => {
    if (!path) return setState({});
    let late = false;
    setState((before) => ({ ...before, busy: true }));
    get(path).then(
      (data) => late || setState({ data, path }),
      (error) => late || setState((before) => ({ ...before, busy: false, error: error.message })),
    );
    return () => (late = true);
  }, [path]);
  return state;
}
