"use strict";
(() => {
  const $ = (selector, within = document) => within.querySelector(selector);
  const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];
  const kept = (() => { try { return JSON.parse(sessionStorage.getItem("invitro") || "{}"); } catch { return {}; } })();
  const keep = (name, value) => {
    kept[name] = value;
    try { sessionStorage.setItem("invitro", JSON.stringify(kept)); } catch { /* a page opened from disk may have no storage */ }
  };

  // Light and dark: the system's choice until the reader makes one.
  const root = document.documentElement;
  if (kept.theme) root.dataset.theme = kept.theme;
  $("#theme").onclick = () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    keep("theme", root.dataset.theme);
  };

  // Choosers: each figure shows the variant whose key matches its selects.
  const shown = new WeakMap();
  const key = figure => $$("select[data-name]", figure).map(select => `${select.dataset.name}=${select.value}`).join(";");
  function choose(figure) {
    const wanted = key(figure);
    const drawing = $(".drawing", figure);
    if (shown.get(figure) === wanted) return;
    const next = $(`template[data-key="${wanted}"]`, figure);
    if (!next) return;
    // What is on show goes back to its template, so that choosing it again costs nothing.
    const last = $(`template[data-key="${shown.get(figure)}"]`, figure);
    if (last) last.content.append(...drawing.childNodes);
    drawing.replaceChildren(next.content);
    $(".runs", figure).textContent = next.dataset.runs;
    shown.set(figure, wanted);
    keep(figure.id, wanted);
  }
  const figures = $$("figure").filter(figure => $("template", figure));
  for (const figure of figures) {
    shown.set(figure, key(figure));
    for (const part of (kept[figure.id] || "").split(";")) {
      const [name, value] = part.split("=");
      const select = name && $(`select[data-name="${name}"]`, figure);
      if (select && select.options[value]) select.value = value;
    }
    choose(figure);
    figure.addEventListener("change", () => choose(figure));
  }
  for (const all of $$("select[data-all]")) {
    all.onchange = () => {
      for (const figure of figures) {
        for (const select of $$(`select[data-name="${all.dataset.all}"]`, figure)) select.value = all.value;
        choose(figure);
      }
    };
  }

  // Hovering shows the value.
  const tip = $("#tip");
  document.addEventListener("mousemove", event => {
    const text = event.target.dataset && event.target.dataset.t;
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.min(event.clientX + 12, innerWidth - width - 8)}px`;
    tip.style.top = `${event.clientY - height - 10 < 0 ? event.clientY + 14 : event.clientY - height - 10}px`;
  });

  // Tables sort by a click on their head; numbers as numbers.
  for (const table of $$("table.sortable")) {
    $$("th", table).forEach((head, column) => {
      head.onclick = () => {
        const down = head.dataset.down !== "1";
        $$("th", table).forEach(other => delete other.dataset.down);
        head.dataset.down = down ? "1" : "0";
        const value = row => {
          const text = row.cells[column].textContent.replace("−", "-");
          return text !== "" && !isNaN(text) ? Number(text) : text;
        };
        const rows = [...table.tBodies[0].rows].sort((a, b) => {
          const [x, y] = [value(a), value(b)];
          const order = typeof x === typeof y ? (x < y ? -1 : x > y ? 1 : 0) : typeof x === "number" ? -1 : 1;
          return down ? order : -order;
        });
        table.tBodies[0].append(...rows);
      };
    });
  }
  const findRun = $("#find-run");
  if (findRun) {
    const rows = [...$("table.runs").tBodies[0].rows].map(row => [row, row.textContent.toLowerCase()]);
    findRun.oninput = () => {
      const wanted = findRun.value.toLowerCase().trim();
      let count = 0;
      for (const [row, text] of rows) {
        row.hidden = !text.includes(wanted);
        count += !row.hidden;
      }
      $("#runs-shown").textContent = `${count} runs`;
    };
  }

  // The word explorer.
  const source = $("#word-data");
  if (source) {
    const { languages, texts, runs, rows } = JSON.parse(source.textContent);
    const element = (tag, text, name) => {
      const made = document.createElement(tag);
      if (text !== undefined) made.textContent = text;
      if (name) made.className = name;
      return made;
    };
    // One word is one symbol of one world: the data seed decides the world, d only the forms.
    const words = new Map();
    for (const row of rows) {
      const name = `${runs[row[0]][4]}|${row[1]}`;
      if (!words.has(name)) words.set(name, { symbol: texts[row[1]], seed: runs[row[0]][4], rows: [], forms: new Set() });
      const word = words.get(name);
      word.rows.push(row);
      for (const form of row[2]) word.forms.add(texts[form]);
    }
    const list = [...words.values()];
    for (const word of list) word.text = [word.symbol, ...word.forms].join(" ").toLowerCase();

    const pieces = (row, place) => {
      const shared = new Set(row[3].filter((_, other) => other !== place).flatMap(other => texts[other].split("·")));
      const line = element("span", undefined, "p");
      for (const piece of texts[row[3][place]].split("·")) {
        const made = element("span", piece, shared.has(piece) ? "s" : undefined);
        if (!shared.has(piece)) made.style.borderColor = `var(--${languages[place][1]})`;
        line.append(made);
      }
      return line;
    };
    const order = (a, b) => (isNaN(a) || isNaN(b) ? String(a).localeCompare(String(b)) : a - b);
    function show(word) {
      const out = $("#word");
      out.replaceChildren();
      const reached = word.rows.filter(row => row[8] !== null).length;
      const title = element("h3", `${word.symbol}`);
      const seed = word.seed === null ? "" : `, data seed ${word.seed}`;
      const count = `${word.rows.length} run${word.rows.length === 1 ? "" : "s"}`;
      // A word that was never asked for looks like one that was never reached.
      const said = reached ? `Reached in ${reached} of ${count}` : `Not seen to be reached in ${count}`;
      out.append(title, element("p", `${said}${seed} (not every word is asked for). Filled pieces stand in another form too.`));
      const table = element("table", undefined, "word");
      const head = element("tr");
      for (const name of ["d", "|V|", "regime", "λ", "model seed", ...languages.map(([name]) => `form in ${name}`), "bridge", "to", "cognate bridge", "reached from step"]) head.append(element("th", name));
      table.append(element("thead"));
      table.tHead.append(head);
      const body = element("tbody");
      const sorted = [...word.rows].sort((x, y) => {
        const [a, b] = [runs[x[0]], runs[y[0]]];
        return order(a[3], b[3]) || order(a[0], b[0]) || order(a[1], b[1]) || order(a[2], b[2]) || order(a[5], b[5]);
      });
      for (const row of sorted) {
        const run = runs[row[0]];
        const line = element("tr");
        const cell = content => { const made = element("td"); made.append(content === null ? "" : content); line.append(made); };
        for (const level of [run[3], run[0], run[1], run[2], run[5]]) cell(level === null ? "" : String(level));
        languages.forEach((_, place) => cell(pieces(row, place)));
        cell(row[4] === null ? "" : String(row[4]));
        cell(texts[row[5]] + (texts[row[6]] ? ` (${texts[row[6]]})` : ""));
        cell(row[7] === null ? "" : String(row[7]));
        cell(row[8] === null ? "not seen" : String(row[8]));
        body.append(line);
      }
      table.append(body);
      const scroll = element("div", undefined, "scroll");
      scroll.append(table);
      out.append(scroll);
    }
    function find() {
      const wanted = $("#find-word").value.toLowerCase().trim();
      const found = list.filter(word => word.text.includes(wanted));
      const out = $("#word-list");
      out.replaceChildren();
      for (const word of found.slice(0, 24)) {
        const button = element("button", [...word.forms].slice(0, 2).join(" / "));
        button.type = "button";
        button.title = word.symbol;
        button.onclick = () => {
          $$("button", out).forEach(other => other.setAttribute("aria-pressed", other === button));
          show(word);
        };
        out.append(button);
      }
      if (found.length > 24) out.append(element("span", `and ${found.length - 24} more`, "none"));
      if (found.length === 0) out.append(element("span", "No such word.", "none"));
      if (found.length === 1) $("button", out).click();
    }
    $("#find-word").oninput = find;
    find();
  }

  // Live: ask whether anything changed, and if so load the page again where the reader was.
  if ("live" in root.dataset) {
    if (kept.scroll) { scrollTo({ top: kept.scroll, behavior: "instant" }); keep("scroll", 0); }
    let last = null;
    setInterval(async () => {
      try {
        const answer = await fetch("/version", { cache: "no-store" });
        if (!answer.ok) return;
        const now = await answer.text();
        $("#live").textContent = "live";
        if (last !== null && now !== last) { keep("scroll", scrollY); location.reload(); }
        last = now;
      } catch { $("#live").textContent = "server gone"; }
    }, 1000);
  }
})();
