// Figures: choosers, the numbers behind a drawing, and what can be saved of it.
const figures = $$("figure").filter(figure => $(".pack", figure));
const packs = new WeakMap();
function packOf(figure) {
  if (!packs.has(figure)) {
    packs.set(figure, unpack($(".pack", figure)).then(({ csv, choosers, variants, narrow }) => {
      const byKey = new Map(variants.map(([key, stem, runs, drawing, caption]) => [key, { stem, runs, drawing, caption }]));
      return { csv, choosers, narrow, variants: byKey };
    }));
  }
  return packs.get(figure);
}

// Narrow screens have a drawing of their own of what is on show first.
const phone = matchMedia("(max-width: 56rem)");
async function drawNarrow(figure) {
  const { narrow } = await packOf(figure);
  const place = $(".narrow:empty", figure);
  if (!place) return;
  place.innerHTML = narrow;
  focusable(place);
}

// Each figure shows the variant whose key matches its selects.
const key = figure => $$("select[data-name]", figure).map(select => `${select.dataset.name}=${select.value}`).join(";");
async function choose(figure) {
  if (figure.dataset.shown === key(figure)) return;
  const { variants } = await packOf(figure);
  const wanted = key(figure);
  const next = variants.get(wanted);
  if (!next || figure.dataset.shown === wanted) return;
  const drawing = $(".drawing", figure);
  // What is on show first is not in the pack.
  const last = variants.get(figure.dataset.shown);
  if (last && !last.drawing) last.drawing = drawing.innerHTML;
  drawing.innerHTML = next.drawing;
  focusable(drawing);
  if (phone.matches) await drawNarrow(figure);
  $(".caption", figure).innerHTML = next.caption;
  markTerms($("figcaption", figure));
  $(".runs", figure).textContent = next.runs;
  figure.dataset.shown = wanted;
  keep(figure.id, wanted);
  await showNumbers(figure);
}
/** Drawings with points to go through take the focus. */
function focusable(drawing) {
  for (const svg of $$("svg", drawing)) if ($("[data-t]", svg)) svg.setAttribute("tabindex", "0");
}
for (const figure of figures) {
  if (!("folded" in figure.dataset)) figure.dataset.shown = key(figure);
  focusable(figure);
  for (const part of (kept[figure.id] || "").split(";")) {
    const [name, value] = part.split("=");
    const select = name && $(`select[data-name="${name}"]`, figure);
    if (select && select.options[value]) select.value = value;
  }
  if (figure.dataset.shown !== undefined) choose(figure);
  figure.addEventListener("change", () => choose(figure));
  $(".numbers", figure)?.addEventListener("toggle", () => showNumbers(figure));
  for (const button of $$("[data-save]", figure)) button.onclick = () => save(figure, button.dataset.save);
}
const onPhone = () => { if (phone.matches) for (const figure of figures) if (!("folded" in figure.dataset)) drawNarrow(figure); };
phone.addEventListener("change", onPhone);
onPhone();

// Folded figures are drawn when they are opened, or when the page has nothing else to do: it may be printed.
const folded = figures.filter(figure => "folded" in figure.dataset);
for (const details of $$("details.further")) {
  details.addEventListener("toggle", () => { if (details.open) for (const figure of $$("figure", details)) choose(figure); });
}
const whenIdle = globalThis.requestIdleCallback ?? (task => setTimeout(task, 200));
const drawNext = () => { const next = folded.shift(); if (next) choose(next).then(() => whenIdle(drawNext)); };
addEventListener("load", () => whenIdle(drawNext));

// A link into something folded opens it; paper has everything open.
function openAround(place) {
  for (let details = place?.closest("details"); details; details = details.parentElement.closest("details")) details.open = true;
  if (place?.matches?.("#glossary, #tables, #configs, #words")) for (const details of $$(":scope > details", place)) details.open = true;
}
const openLinked = () => { const place = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1))); if (place) { openAround(place); place.scrollIntoView(); } };
addEventListener("hashchange", openLinked);
addEventListener("load", openLinked);
const closed = [];
addEventListener("beforeprint", () => { for (const details of $$("main details:not([open], .numbers, .every-run)")) { closed.push(details); details.open = true; } });
addEventListener("afterprint", () => { for (const details of closed.splice(0)) details.open = false; });

// The table of contents marks where the reader is.
const contents = $$("header nav a");
const places = contents.map(link => document.getElementById(link.hash.slice(1)));
function markPlace() {
  let here = places.findLastIndex(place => place && place.getBoundingClientRect().top < innerHeight / 3);
  if (scrollY + innerHeight >= document.documentElement.scrollHeight - 2) here = contents.length - 1;
  contents.forEach((link, at) => { if (at === Math.max(here, 0)) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current"); });
}
addEventListener("scroll", markPlace, { passive: true });
markPlace();

// A slider moves the list beside it, and follows it.
for (const slider of $$("input[data-slides]")) {
  const select = document.getElementById(slider.dataset.slides);
  slider.value = select.value;
  slider.addEventListener("input", () => { select.value = slider.value; choose(slider.closest("figure")); });
  select.addEventListener("change", () => { slider.value = select.value; });
}

for (const all of $$("select[data-all]")) {
  all.onchange = () => {
    for (const figure of figures) {
      for (const select of $$(`select[data-name="${all.dataset.all}"]`, figure)) select.value = all.value;
      choose(figure);
    }
  };
}

/** Rows of cells; a quoted cell may hold commas, quotes and line ends. */
function parseCsv(text) {
  const rows = [];
  let row = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\n"]*))(,|\n)/g)) {
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === "\n") { rows.push(row); row = []; }
  }
  return rows;
}

/** The rows of the table that belong to what is chosen, as far as the columns tell. */
function chosenRows(figure, [header, ...rows], choosers) {
  for (const [name, options] of choosers) {
    const place = Number($(`select[data-name="${name}"]`, figure).value);
    const distinct = header.map((_, column) => [...new Set(rows.map(row => row[column]))]);
    const names = column => distinct[column].length && distinct[column].every(value => options.includes(value));
    const columns = header.map((_, column) => column);
    let column = columns.find(column => header[column] === name && names(column)) ?? columns.find(names);
    let wanted = options[place];
    if (column === undefined) {
      // The same options under other names, in the same order.
      column = header.indexOf(name);
      if (column < 0 || distinct[column].length !== options.length) continue;
      wanted = distinct[column][place];
    }
    rows = rows.filter(row => row[column] === wanted);
  }
  return rows;
}

const MOST_ROWS = 200;
async function showNumbers(figure) {
  const details = $(".numbers", figure);
  if (!details?.open) return;
  const { csv, choosers } = await packOf(figure);
  const table = parseCsv(csv);
  const rows = chosenRows(figure, table, choosers);
  const out = $("div", details);
  const count = `${rows.length} of ${table.length - 1} rows belong to what is on show`;
  const most = rows.length > MOST_ROWS ? `; the first ${MOST_ROWS} are here` : "";
  out.replaceChildren(element("p", `${count}${most}. The CSV has all.`, "note"));
  out.append(tableOf(`Numbers of ${$(".title", figure).textContent}`, table[0], rows.slice(0, MOST_ROWS)));
  watchEdges(out);
}

function download(name, type, content) {
  const link = element("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

/** The drawing as a file of its own: light, with its font, and without what only the page uses. */
function standalone(svg) {
  const copy = svg.cloneNode(true);
  $$(".h", copy).forEach(target => target.remove());
  for (const marked of $$("[data-t], [class]", copy)) { marked.removeAttribute("data-t"); marked.removeAttribute("class"); }
  const [, , width, height] = svg.getAttribute("viewBox").split(" ");
  const own = name => document.createElementNS("http:" + "//www.w3.org/2000/svg", name);
  const title = own("title");
  title.textContent = svg.getAttribute("aria-label");
  const paper = own("rect");
  for (const [name, value] of Object.entries({ width, height, fill: "var(--background)" })) paper.setAttribute(name, value);
  for (const name of ["role", "aria-label", "tabindex"]) copy.removeAttribute(name);
  copy.setAttribute("width", `${width}pt`);
  copy.setAttribute("height", `${height}pt`);
  copy.setAttribute("font-family", "Helvetica, Arial, 'Liberation Sans', sans-serif");
  copy.prepend(title, paper);
  const text = new XMLSerializer().serializeToString(copy);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${text.replace(/var\(--(\w+)\)/g, (_, name) => PALETTE[name])}\n`;
}

/** Pixels per point: three times what a screen shows at the drawing's own size. */
const SCALE = 4;
async function raster(text, svg) {
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = element("canvas");
  canvas.width = Math.round(width * SCALE);
  canvas.height = Math.round(height * SCALE);
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise(done => canvas.toBlob(done, "image/png"));
}

async function save(figure, kind) {
  const { csv, variants } = await packOf(figure);
  if (kind === "csv") return download(`${figure.id.replace("fig-", "")}.csv`, "text/csv;charset=utf-8", csv);
  const svg = $$(".drawing svg", figure).find(drawing => drawing.getClientRects().length);
  if (!svg) return;
  const text = standalone(svg);
  const name = variants.get(figure.dataset.shown).stem;
  if (kind === "svg") download(`${name}.svg`, "image/svg+xml", text);
  else download(`${name}.png`, "image/png", await raster(text, svg));
}
