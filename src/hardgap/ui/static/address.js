// The whole state of the page stands in its address, after the #: `#explore?rule=150&hide=2`. A link reopens the same view.
import { useEffect, useState } from "./vendor/preact-htm.js";

export function read(hash = location.hash) {
  const [view, words = ""] = hash.replace(/^#\/?/, "").split("?");
  return { view: view || "explore", at: Object.fromEntries(new URLSearchParams(words)) };
}

export function link(view, at = {}) {
  const kept = Object.entries(at).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const words = new URLSearchParams(kept).toString();
  return `#${view}${words ? `?${words}` : ""}`;
}

// Changes of a view replace the address, so that "back" leaves the view instead of undoing clicks one by one.
export function change(changes) {
  const { view, at } = read();
  history.replaceState(null, "", link(view, { ...at, ...changes }));
  dispatchEvent(new Event("hashchange"));
}

export function useAddress() {
  const [state, setState] = useState(read());
  useEffect(() => {
    const hear = () => setState(read());
    addEventListener("hashchange", hear);
    return () => removeEventListener("hashchange", hear);
  }, []);
  return state;
}
