// The page of a study, opened from disk: figures, controls, hovers, tables, words, themes, print.
import { alone, check, open, scrollTo } from "./open.mjs";

const file = `file://${process.argv[2]}`;
const word = process.argv[3];

await open(file, alone(file), async page => {
  check(await page.locator(".answers > li").count() === 4, "four hypotheses");
  // The first screen answers: question, verdicts, figure and table.
  await page.setViewportSize({ width: 1400, height: 1000 });
  for (const part of ["h1", ".answers > li:last-child", "#overview figure .drawing", "#overview table"]) {
    const box = await page.locator(part).first().boundingBox();
    check(box.y >= 0 && box.y + box.height <= 1000, `${part} ends at ${box.y + box.height}`);
  }
  // The table of contents stays in view, marks where the reader is, and its links open what is folded.
  const contents = page.locator("header nav a");
  check(await contents.first().getAttribute("aria-current") === "true", "it begins at the beginning");
  await page.locator("header nav a", { hasText: "Glossary" }).click();
  await page.locator("#glossary dd").first().waitFor({ state: "visible" });
  await page.waitForFunction(() => document.querySelector("header nav a[aria-current]")?.textContent === "Glossary");
  check((await contents.last().boundingBox()).y > 0 && (await page.locator("header").boundingBox()).y === 0, "it is still in view");
  // Folded figures are drawn when they are opened.
  const further = page.locator("details.further").first();
  check(!await further.locator("figure").first().isVisible(), "folded");
  await further.locator("summary").first().click();
  await further.locator("figure .wide svg").first().waitFor({ state: "visible" });
  // No sentence stands on the page twice.
  const twice = await page.evaluate(() => {
    const seen = new Set(), found = [];
    for (const part of document.querySelectorAll("main :is(h1, h2, h3, p, li, dd, summary, .caption)")) {
      if (part.querySelector("p, li, dd, table, details")) continue;
      for (const sentence of part.textContent.split(/(?<=[.!?])\s+/)) {
        if (sentence.split(/\s+/).length < 6) continue;
        if (seen.has(sentence)) found.push(sentence);
        seen.add(sentence);
      }
    }
    return found;
  });
  check(twice.length === 0, `said twice: ${twice.join(" | ")}`);
  await page.evaluate(() => document.querySelectorAll("main details:not(.numbers)").forEach(details => { details.open = true; }));
  await page.waitForFunction(() => [...document.querySelectorAll("figure[data-folded]")].every(figure => figure.dataset.shown !== undefined));
  const figures = page.locator("figure");
  const count = await figures.count();
  check(count >= 14, `at least 14 figures, not ${count}`);
  check(await page.locator("figure .wide svg:visible").count() === count, "every figure is drawn");
  check(await page.locator("figure .narrow svg:visible").count() === 0, "and once");

  // Every control of every figure changes it, and going back brings back what was there.
  let controls = 0;
  for (const figure of await figures.all()) {
    const drawing = () => figure.locator(".drawing").innerHTML();
    const id = await figure.getAttribute("id");
    for (const select of await figure.locator("select").all()) {
      const choose = async option => {
        const shown = await figure.getAttribute("data-shown");
        const name = await select.getAttribute("data-name");
        await select.selectOption(option);
        await page.waitForFunction(([id, key]) => document.getElementById(id).dataset.shown === key, [id, shown.replace(new RegExp(`${name}=\\d+`), `${name}=${option}`)]);
      };
      const before = await drawing();
      const options = await select.locator("option").evaluateAll(all => all.map(one => one.value));
      const first = await select.inputValue();
      await choose(options.find(option => option !== first));
      const after = await drawing();
      check(before !== after, `${id}: ${await select.getAttribute("data-name")} changes nothing`);
      check(after.includes("<svg") || after.includes("no run has measured"), "something is shown");
      await choose(first);
      check(await drawing() === before, "choosing the first again shows it again");
      controls += 1;
    }
  }
  check(controls >= 20, `${controls} controls`);
  console.log(`${controls} controls`);

  // One control sets all figures.
  if (await page.locator("select[data-all=regime]").count()) {
    await page.locator("select[data-all=regime]").selectOption("1");
    const regimes = await page.locator("figure select[data-name=regime]").evaluateAll(all => all.map(one => one.value));
    check(regimes.length > 1 && regimes.every(value => value === "1"), "all figures show the other regime");
  }

  // Hovering says the value.
  const target = page.locator("#fig-dynamics .wide .h").nth(3);
  await scrollTo(target);
  await target.hover({ force: true });
  const tip = page.locator("#tip");
  await tip.waitFor({ state: "visible" });
  check(/step \d+: \d\.\d+ (\[−?\d\.\d+, \d\.\d+\]|and \d\.\d+), \d+ runs/.test(await tip.textContent()), `the tip says ${await tip.textContent()}`);
  await page.mouse.move(2, 2);
  await tip.waitFor({ state: "hidden" });

  // The table of runs filters and sorts, by mouse and by keyboard.
  const shown = () => page.locator("table.runs tbody tr:visible").count();
  const all = await shown();
  await page.fill("#find-run", "balanced");
  check(await shown() === all / 2, "half the runs are balanced");
  await page.fill("#find-run", "");
  const share = page.locator("table.runs th", { hasText: "share" }).first();
  const place = await share.evaluate(head => head.cellIndex);
  const values = () => page.locator("table.runs tbody tr").evaluateAll((rows, at) => rows.map(row => Number(row.cells[at].textContent)), place);
  await share.locator("button").click();
  check((await values()).every((value, at, all) => at === 0 || all[at - 1] <= value), "sorted by share");
  check(await share.getAttribute("aria-sort") === "ascending", "and says so");
  await share.locator("button").focus();
  await page.keyboard.press("Enter");
  check((await values()).every((value, at, all) => at === 0 || all[at - 1] >= value), "sorted the other way by keyboard");
  check(await share.getAttribute("aria-sort") === "descending", "and says so");
  check(await page.locator("table.runs th[aria-sort=ascending]").count() === 0, "one order at a time");

  // A table that is wider than its box shows on which side there is more.
  await page.setViewportSize({ width: 700, height: 900 });
  const box = page.locator(".more:has(table.runs)");
  await page.waitForFunction(() => innerWidth === 700 && document.querySelector(".more:has(table.runs)").dataset.more.split(" ").includes("right"));
  // Layout may still be under way: scrolled again until the edges say that this is the end.
  await page.waitForFunction(() => {
    const more = document.querySelector(".more:has(table.runs)");
    more.firstElementChild.scrollLeft = more.firstElementChild.scrollWidth;
    const edges = more.dataset.more.split(" ");
    return edges.includes("left") && !edges.includes("right");
  });
  check(await box.locator(".scroll").getAttribute("tabindex") === "0", "it can be reached by keyboard");
  await page.setViewportSize({ width: 1100, height: 900 });

  // The word explorer finds a word by a part of its form.
  await page.locator("#words[data-ready]").waitFor();
  await page.fill("#find-word", word);
  await page.locator("#word-list button").first().click();
  await page.locator("#word table tbody tr").first().waitFor();
  check((await page.locator("#word table").textContent()).length > 50, "the word has rows");
  const pieces = await page.locator("#word .p").first().locator("span").allTextContents();
  check(pieces.join("") === word, `the pieces spell the word: ${pieces}`);
  check(await page.locator("#word .p .s").count() > 0, "shared pieces are marked");
  const header = (await page.locator("#word th").allTextContents()).join(" ");
  check(header.includes("contrast in A") && header.includes("contrast over training") && !header.includes("data seed"), header);
  const spark = page.locator("#word .spark").first();
  check(await spark.locator("path").count() === 3, "a line per language and the zero");
  check(/A ends at .*B ends at .*nats/.test(await spark.getAttribute("aria-label")), "which says where it ends");
  // By symbol, and by parts of it.
  const symbol = await page.locator("#word h3").textContent();
  const [, property, value] = symbol.split(":");
  const found = async text => {
    await page.fill("#find-word", text);
    return page.locator("#word-list button").evaluateAll(all => all.map(one => one.title.split(": ")[0]));
  };
  check((await found(symbol)).every(other => other.startsWith(symbol)), "found by symbol");
  check((await found(`value ${property} ${value}`)).includes(symbol), "found by its parts");
  // Sorting by contrast, and a filter by a setting.
  await page.fill("#find-word", "");
  await page.selectOption("#word-sort", { label: "contrast in B, largest first" });
  const means = (await page.locator("#word-list button small").allTextContents()).map(text => Number(text.replace("−", "-")));
  check(means.length === 24 && means.every((mean, at) => at === 0 || means[at - 1] >= mean), `sorted by contrast: ${means}`);
  await page.locator("#word-list button").first().click();
  const lines = await page.locator("#word tbody tr").count();
  const regime = page.locator("#word-choosers .chooser", { hasText: "regime" }).locator("select");
  await regime.selectOption({ label: "balanced" });
  check(await page.locator("#word tbody tr").count() === lines / 2, "half the runs are balanced");
  await regime.selectOption("0");
  await page.selectOption("#word-sort", "0");
  // A word that no run reached may not have been asked for.
  const unseen = await page.evaluate(async () => {
    const bytes = Uint8Array.from(atob(document.getElementById("word-data").textContent), letter => letter.charCodeAt(0));
    const { texts, seed, runs, rows } = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
    const word = row => `${runs[rows.run[row]][seed]}|${rows.symbol[row]}`;
    const at = rows.run.map((_, row) => row);
    const seen = new Set(at.filter(row => rows.reached[row] !== null).map(word));
    const all = at.filter(row => !seen.has(word(row)));
    return { form: texts[rows.forms[all[0]][0]], symbol: texts[rows.symbol[all[0]]], runs: all.filter(row => word(row) === word(all[0])).length };
  });
  await page.fill("#find-word", `${unseen.form} ${unseen.symbol}`);
  await page.locator("#word-list button").first().click();
  const said = await page.locator("#word").textContent();
  check(said.includes(`Not seen to be reached in ${unseen.runs} runs, data seed`), `it is said to be unseen: ${said}`);
  check(said.includes("(not every word is asked for)") && said.includes("not seen") && !said.includes("never"), "and why");
  await page.fill("#find-word", "no such word at all");
  check((await page.locator("#word-list").textContent()).includes("No such word"), "an unknown word is said to be so");
  check(await page.locator("#word table").count() === 0, "and none is shown");

  // The numbers of what is on show.
  const numbers = page.locator("#fig-dynamics .numbers");
  await numbers.locator("summary").click();
  await numbers.locator("tbody tr").first().waitFor();
  const rows = await numbers.locator("tbody tr").count();
  check(rows > 10 && rows <= 200, `${rows} rows`);

  // Light, dark and paper.
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await page.click("#theme");
  check(await background() !== light, "the theme changes");
  await page.emulateMedia({ media: "print" });
  check(await background() === "rgb(255, 255, 255)", "paper is white");
  check(!await page.locator("header").isVisible(), "no controls on paper");
  check(await page.locator("select:visible, button:visible, input:visible").count() === 0, "none at all");
  check(await page.locator("#glossary dd").first().isVisible(), "the glossary is printed");
  await page.emulateMedia({ media: "screen", colorScheme: "dark" });
  check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing runs off the side");
});
