// Tables: made, sorted, searched, and with edges that show where there is more to see.
function tableOf(label, header, rows) {
  const table = element("table", undefined, "plain");
  const head = element("tr");
  for (const name of header) {
    const cell = element("th");
    cell.append(markup(name));
    cell.scope = "col";
    head.append(cell);
  }
  const body = element("tbody");
  for (const cells of rows) {
    const line = element("tr");
    for (const content of cells) {
      const cell = element("td");
      cell.append(content ?? "");
      line.append(cell);
    }
    body.append(line);
  }
  table.append(element("thead"), body);
  table.tHead.append(head);
  const scroll = element("div", undefined, "scroll");
  scroll.setAttribute("aria-label", label);
  scroll.append(table);
  const more = element("div", undefined, "more");
  more.append(scroll);
  return more;
}

/** Marks the edges behind which a box has more; only a box that scrolls is a stop of the keyboard. */
function markEdges(scroll) {
  const { scrollLeft: left, scrollTop: top, clientWidth, clientHeight, scrollWidth, scrollHeight } = scroll;
  const edges = {
    left: left > 1,
    right: left + clientWidth < scrollWidth - 1,
    up: top > 1,
    down: top + clientHeight < scrollHeight - 1,
  };
  scroll.parentElement.dataset.more = Object.keys(edges).filter(edge => edges[edge]).join(" ");
  const scrolls = scrollWidth > clientWidth + 1 || scrollHeight > clientHeight + 1;
  scroll.setAttribute("role", scrolls ? "region" : "group");
  if (scrolls) scroll.tabIndex = 0;
  else scroll.removeAttribute("tabindex");
}
const resized = new ResizeObserver(entries => {
  for (const { target } of entries) markEdges(target.matches(".scroll") ? target : target.closest(".scroll"));
});
function watchEdges(within = document) {
  for (const scroll of $$(".more > .scroll", within)) {
    scroll.addEventListener("scroll", () => markEdges(scroll), { passive: true });
    resized.observe(scroll);
    if (scroll.firstElementChild) resized.observe(scroll.firstElementChild);
    markEdges(scroll);
  }
}
watchEdges();

// A click on a head sorts; numbers as numbers, and what is missing last.
for (const table of $$("table.sortable")) {
  $$("th", table).forEach(head => {
    const button = $("button", head);
    if (!button) return;
    button.onclick = () => {
      const order = head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
      $$("th", table).forEach(other => other.hasAttribute("aria-sort") && other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", order);
      const column = head.cellIndex;
      const value = row => {
        const text = row.cells[column].textContent.replace("−", "-");
        return text !== "" && !isNaN(text) ? Number(text) : text;
      };
      const compare = ([x], [y]) => {
        if (x === "" || y === "") return (x === "") - (y === "");
        const by = typeof x === typeof y ? (x < y ? -1 : x > y ? 1 : 0) : typeof x === "number" ? -1 : 1;
        return order === "ascending" ? by : -by;
      };
      const rows = [...table.tBodies[0].rows].map(row => [value(row), row]).sort(compare);
      table.tBodies[0].append(...rows.map(([, row]) => row));
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
