// The word explorer: finds, sorts and filters masked words, and shows one of them run by run.
const MOST_WORDS = 24;
const wordSection = $("#words");
if (wordSection) unpack($("#word-data")).then(explore);

function explore({ languages, settings, seed, runs, texts, steps, rows }) {
  const at = rows.run.map((_, place) => place);
  const setting = (row, place) => runs[rows.run[row]][place];
  const order = (a, b) => (isNaN(a) || isNaN(b) ? String(a).localeCompare(String(b)) : a - b);
  const levels = settings.map((_, place) => [...new Set(at.map(row => setting(row, place)))].filter(level => level !== null).sort(order));
  const varied = settings.map((_, place) => place).filter(place => levels[place].length > 1);

  // One word is one symbol of one world: the data seed decides the world, d only the forms. Where several languages have a
  // mask, one that is masked in two of them is two words.
  const words = new Map();
  const severalMasks = new Set(rows.masked).size > 1;
  const symbolOf = row => `${texts[rows.symbol[row]]}${severalMasks ? `, masked in ${texts[rows.masked[row]]}` : ""}`;
  for (const row of at) {
    const name = `${setting(row, seed)}|${symbolOf(row)}`;
    if (!words.has(name)) words.set(name, { symbol: symbolOf(row), gloss: texts[rows.gloss[row]], seed: setting(row, seed), rows: [] });
    words.get(name).rows.push(row);
  }
  const list = [...words.values()];
  const formsOf = chosen => [...new Set(chosen.flatMap(row => rows.forms[row].map(form => texts[form]).filter(form => form !== "")))];
  for (const word of list) word.text = [word.symbol, word.gloss, ...formsOf(word.rows)].join(" ").toLowerCase();

  // Controls: what to sort by, and the settings that vary.
  const sorts = [["symbol", null], ...languages.map(([name], place) => [`contrast in ${name}, largest first`, row => rows.contrast[row][place]]),
    ["bridge, largest first", row => rows.bridge[row]], ["cognate bridge, largest first", row => rows.cognate[row]]];
  const select = (name, label, options) => {
    const box = element("span", undefined, "chooser");
    const made = element("select");
    made.id = `word-${name}`;
    options.forEach((option, place) => made.append(new Option(option, place)));
    const text = element("label");
    text.append(markup(label));
    text.htmlFor = made.id;
    box.append(text, " ", made);
    $("#word-choosers").append(box);
    made.onchange = find;
    return made;
  };
  const anyContrast = rows.contrast.some(values => values.some(value => value !== null));
  const has = value => at.some(row => value(row) !== null);
  const offered = sorts.filter(([, value]) => !value || has(value));
  const sort = select("sort", "sort by", offered.map(([name]) => name));
  const filters = varied.map(place => [place, select(`filter-${place}`, settings[place], ["all", ...levels[place]])]);

  const piecesOf = place => texts[place] === "" ? [] : texts[place].split("·");
  function pieces(own, others, colour) {
    const shared = new Set(others.flatMap(piecesOf));
    const line = element("span", undefined, "p");
    for (const piece of piecesOf(own)) {
      const made = element("span", piece, shared.has(piece) ? "s" : undefined);
      if (!shared.has(piece) && colour) made.style.borderColor = `var(--${colour})`;
      line.append(made);
    }
    return line;
  }

  let shownWord = null;
  let shownRows = [];
  function show() {
    const out = $("#word");
    out.replaceChildren();
    if (!shownWord) return;
    const chosen = shownRows;
    const reached = chosen.filter(row => rows.reached[row] !== null).length;
    const world = shownWord.seed === null ? "" : `, data seed ${shownWord.seed}`;
    const count = `${chosen.length} run${chosen.length === 1 ? "" : "s"}`;
    // A word that was never asked for looks like one that was never reached.
    const said = reached ? `Reached in ${reached} of ${count}` : `Not seen to be reached in ${count}`;
    const curves = chosen.filter(row => rows.curves[row] !== null);
    const values = curves.flatMap(row => rows.curves[row].flatMap(curve => curve.slice(1)));
    const range = [Math.min(0, ...values), Math.max(0, ...values)];
    const shown = varied.filter(place => place !== seed);
    const withContrast = languages.map((_, place) => chosen.some(row => rows.contrast[row][place] !== null));
    const missing = curves.length || !withContrast.some(Boolean) ? "" : " The curves of this word did not fit on the page.";
    const unasked = !anyContrast || withContrast.some(Boolean) ? "" : " Its contrast was not asked.";
    out.append(
      element("h3", `${shownWord.symbol}`),
      element("p", `${shownWord.gloss}. ${said}${world} (not every word is asked for).${unasked}${missing} Filled pieces stand in another form of the row too; other pieces and curves have the colour of their language.`),
    );
    const header = [...shown.map(place => settings[place]), ...languages.flatMap(([name], place) => [`form in ${name}`, ...(withContrast[place] ? [`contrast in ${name}`] : [])])];
    if (curves.length) header.push("contrast over training, nats");
    header.push("bridge", "to", "cognate bridge", "reached from step");
    const number = value => (value === null ? "" : String(value).replace("-", "−"));
    const sorted = [...chosen].sort((x, y) => shown.reduce((by, place) => by || order(setting(x, place), setting(y, place)), 0));
    const body = sorted.map(row => [
      ...shown.map(place => setting(row, place) ?? ""),
      ...languages.flatMap(([, colour], place) => {
        const others = [...rows.pieces[row].filter((_, other) => other !== place), rows.toPieces[row]];
        return [pieces(rows.pieces[row][place], others, colour), ...(withContrast[place] ? [number(rows.contrast[row][place])] : [])];
      }),
      ...(curves.length ? [rows.curves[row] ? sparkline(rows.curves[row], range) : ""] : []),
      number(rows.bridge[row]),
      bridge(row),
      number(rows.cognate[row]),
      rows.reached[row] === null ? "not seen" : String(rows.reached[row]),
    ]);
    out.append(tableOf(`${shownWord.symbol}, run by run`, header, body));
    watchEdges(out);
    markTerms(out);
  }

  /** The word of the bridge in its pieces, or whole where they were not recorded. */
  function bridge(row) {
    const cell = element("span");
    if (texts[rows.toPieces[row]]) cell.append(pieces(rows.toPieces[row], rows.pieces[row]));
    else cell.append(texts[rows.to[row]]);
    if (texts[rows.language[row]]) cell.append(` (${texts[rows.language[row]]})`);
    return cell;
  }

  /** One line per language over the steps, with the ends of both axes. */
  function sparkline(curves, [low, high]) {
    const [width, height, left, top] = [150, 64, 34, 8];
    const [right, bottom] = [width - 4, height - 15];
    const make = (name, attributes, text) => {
      const made = document.createElementNS("http:" + "//www.w3.org/2000/svg", name);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      if (text !== undefined) made.textContent = text;
      return made;
    };
    const of = curves.map(([place, ...values]) => [steps[place].split(" ").map(Number), values]);
    const last = Math.max(1, ...of.flatMap(([at]) => at));
    const y = value => bottom - ((value - low) / (high - low || 1)) * (bottom - top);
    const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "spark", role: "img" });
    const ends = languages.map(([name], place) => `${name} ends at ${of[place][1].at(-1) ?? "nothing"}`);
    svg.setAttribute("aria-label", `Contrast over training: ${ends.join(", ")} nats`);
    svg.append(make("path", { d: `M${left} ${y(0)}H${right}`, stroke: "var(--muted)", "stroke-width": 0.7 }));
    of.forEach(([at, values], place) => {
      const d = at.map((step, point) => `${point ? "L" : "M"}${(left + (step / last) * (right - left)).toFixed(1)} ${y(values[point]).toFixed(1)}`).join("");
      svg.append(make("path", { d, fill: "none", stroke: `var(--${languages[place][1]})`, "stroke-width": 1.6 }));
    });
    const label = (x, y, anchor, text) => svg.append(make("text", { x, y, "text-anchor": anchor, "font-size": 11, fill: "var(--muted)" }, text));
    const shorter = value => String(Math.round(value * 10) / 10).replace("-", "−");
    label(left - 4, y(high) + 4, "end", shorter(high));
    label(left - 4, y(low) + 4, "end", shorter(low));
    label(left, height - 2, "start", "0");
    label(right, height - 2, "end", last >= 1000 ? `${last / 1000}k` : last);
    return svg;
  }

  function find() {
    const wanted = $("#find-word").value.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = part => (/^\d+$/.test(part) ? text => new RegExp(`(?<!\\d)${part}(?!\\d)`).test(text) : text => text.includes(part));
    const parts = wanted.map(matches);
    const chosen = filters.filter(([, select]) => select.value !== "0").map(([place, select]) => [place, levels[place][select.value - 1]]);
    const passes = row => chosen.every(([place, level]) => setting(row, place) === level);
    const value = offered[sort.value][1];
    let found = list.filter(word => parts.every(part => part(word.text))).map(word => ({ word, rows: word.rows.filter(passes) })).filter(({ rows }) => rows.length);
    for (const one of found) {
      const values = value ? one.rows.map(value).filter(value => value !== null) : [];
      one.value = values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
    }
    if (value) found.sort((a, b) => (b.value ?? -Infinity) - (a.value ?? -Infinity) || 0);
    const out = $("#word-list");
    out.replaceChildren();
    for (const { word, rows: chosenRows, value: mean } of found.slice(0, MOST_WORDS)) {
      const button = element("button", formsOf(chosenRows).slice(0, 2).join(" / "));
      if (mean !== null) button.append(element("small", ` ${mean.toFixed(2).replace("-", "−")}`));
      button.type = "button";
      button.title = `${word.symbol}: ${word.gloss}`;
      button.onclick = () => {
        $$("button", out).forEach(other => other.setAttribute("aria-pressed", other === button));
        shownWord = word;
        shownRows = chosenRows;
        show();
      };
      if (word === shownWord) {
        button.setAttribute("aria-pressed", "true");
        shownRows = chosenRows;
      }
      out.append(button);
    }
    if (found.length > MOST_WORDS) out.append(element("span", `and ${found.length - MOST_WORDS} more`, "none"));
    if (found.length === 0) out.append(element("span", "No such word.", "none"));
    if (!found.some(({ word }) => word === shownWord)) shownWord = null;
    if (found.length === 1) $("button", out).click();
    else show();
  }
  $("#find-word").oninput = find;
  find();
  $("#word-list button")?.click();
  markTerms($("#word-choosers"));
  wordSection.dataset.ready = "";
}
