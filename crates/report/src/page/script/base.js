// What all of the page's script uses: elements, what is kept between visits, packed data, themes and tips.
const $ = (selector, within = document) => within.querySelector(selector);
const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];
const element = (tag, text, name) => {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (name) made.className = name;
  return made;
};
/** Text with `*` around what is italic. */
const markup = text => {
  const made = document.createDocumentFragment();
  String(text).split("*").forEach((part, place) => made.append(place % 2 ? element("i", part) : part));
  return made;
};

const kept = (() => { try { return JSON.parse(sessionStorage.getItem("invitro") || "{}"); } catch { return {}; } })();
const keep = (name, value) => {
  kept[name] = value;
  try { sessionStorage.setItem("invitro", JSON.stringify(kept)); } catch { /* a page opened from disk may have no storage */ }
};

/** The JSON that a packed element holds. */
async function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed.textContent), letter => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

// Light and dark: the system's choice until the reader makes one.
const root = document.documentElement;
root.dataset.script = "";
if (kept.theme) root.dataset.theme = kept.theme;
$("#theme").onclick = () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  keep("theme", root.dataset.theme);
};

// One tip, for points and for terms. It keeps to the screen, and Escape closes it.
const tip = $("#tip");
let tipOf = null;
/** Beside an element that has the focus or was tapped, or at the place of the mouse. */
function showTip(text, of, place = of.getBoundingClientRect()) {
  tipOf = of;
  tip.textContent = text;
  tip.hidden = false;
  const { left, right, top, bottom } = place;
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(8, Math.min((left + right) / 2 - width / 2, innerWidth - width - 8))}px`;
  tip.style.top = `${top - height - 8 < 0 ? bottom + 8 : top - height - 8}px`;
}
function hideTip() {
  tip.hidden = true;
  tipOf = null;
}
document.addEventListener("keydown", event => { if (event.key === "Escape") hideTip(); });
addEventListener("scroll", () => {
  // The focus may have scrolled to what the tip is about.
  if (tipOf && document.activeElement.contains(tipOf) && document.activeElement !== document.body) showTip(tip.textContent, tipOf);
  else hideTip();
}, { passive: true, capture: true });

// Hovering over a point shows its value; in a drawing that has the focus, arrow keys go from point to point.
document.addEventListener("mousemove", event => {
  const { target, clientX: x, clientY: y } = event;
  if (target.dataset?.t) showTip(target.dataset.t, target, { left: x, right: x, top: y - 4, bottom: y + 8 });
  else if (tipOf?.dataset.t && !tipOf.classList.contains("on")) hideTip();
});
document.addEventListener("keydown", event => {
  const drawing = event.target.closest?.(".drawing svg");
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!drawing || !step) return;
  const points = $$("[data-t]", drawing);
  if (!points.length) return;
  event.preventDefault();
  const last = points.findIndex(point => point.classList.contains("on"));
  points[last]?.classList.remove("on");
  const next = points[last < 0 ? (step > 0 ? 0 : points.length - 1) : (last + step + points.length) % points.length];
  next.classList.add("on");
  showTip(next.dataset.t, next);
});
document.addEventListener("focusout", event => {
  if (!event.target.closest?.(".drawing svg")) return;
  $$(".on", event.target).forEach(point => point.classList.remove("on"));
  hideTip();
});
