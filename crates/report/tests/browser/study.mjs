// The page of a study, opened from disk: figures, controls, hovers, tables, words, themes, print.
import { open, check } from "./open.mjs";

const file = `file://${process.argv[2]}`;
const word = process.argv[3];

await open(file, url => url === file || url.startsWith("data:"), async page => {
  check(await page.locator("article.card").count() === 4, "four hypotheses");
  const figures = page.locator("figure");
  check(await figures.count() === 16, `16 figures, not ${await figures.count()}`);
  check(await page.locator("figure .drawing svg").count() === 16, "every figure is drawn");

  // Every control of every figure changes it, and going back brings back what was there.
  let controls = 0;
  for (let place = 0; place < 16; place += 1) {
    const figure = figures.nth(place);
    const drawing = () => figure.locator(".drawing").innerHTML();
    for (const select of await figure.locator("select").all()) {
      const before = await drawing();
      const options = await select.locator("option").evaluateAll(all => all.map(one => one.value));
      const first = await select.inputValue();
      await select.selectOption(options.find(option => option !== first));
      const after = await drawing();
      check(before !== after, `${await figure.getAttribute("id")}: ${await select.getAttribute("data-name")} changes nothing`);
      check(after.includes("<svg") || after.includes("no run has measured"), "something is shown");
      await select.selectOption(first);
      check(await drawing() === before, "choosing the first again shows it again");
      controls += 1;
    }
  }
  check(controls >= 20, `${controls} controls`);
  console.log(`${controls} controls`);

  // One control sets all figures.
  await page.locator("select[data-all=regime]").selectOption("1");
  const regimes = await page.locator("figure select[data-name=regime]").evaluateAll(all => all.map(one => one.value));
  check(regimes.length > 3 && regimes.every(value => value === "1"), "all figures show the other regime");

  // Hovering says the value.
  const target = page.locator("#fig-dynamics .h").nth(3);
  await target.scrollIntoViewIfNeeded();
  await target.hover({ force: true });
  const tip = page.locator("#tip");
  await tip.waitFor({ state: "visible" });
  check(/step \d+: \d\.\d{3} \[−?\d\.\d{3}, \d\.\d{3}\], \d+ runs/.test(await tip.textContent()), `the tip says ${await tip.textContent()}`);

  // The table of runs filters and sorts.
  const shown = () => page.locator("table.runs tbody tr:visible").count();
  const all = await shown();
  await page.fill("#find-run", "balanced");
  check(await shown() === all / 2, "half the runs are balanced");
  await page.fill("#find-run", "");
  const share = page.locator("table.runs th", { hasText: "share" });
  await share.click();
  const place = await share.evaluate(head => head.cellIndex);
  const values = await page.locator("table.runs tbody tr").evaluateAll((rows, at) => rows.map(row => Number(row.cells[at].textContent)), place);
  check(values.every((value, at) => at === 0 || values[at - 1] <= value), "sorted by share");

  // The word explorer finds a word by a part of its form.
  await page.fill("#find-word", word);
  await page.locator("#word-list button").first().click();
  await page.locator("#word table tbody tr").first().waitFor();
  check((await page.locator("#word table").textContent()).length > 50, "the word has rows");
  const pieces = await page.locator("#word .p").first().locator("span").allTextContents();
  check(pieces.join("") === word, `the pieces spell the word: ${pieces}`);
  // A word that no run reached may not have been asked for.
  const unseen = await page.evaluate(() => {
    const { texts, runs, rows } = JSON.parse(document.getElementById("word-data").textContent);
    const word = row => `${runs[row[0]][4]}|${row[1]}`;
    const seen = new Set(rows.filter(row => row[8] !== null).map(word));
    const all = rows.filter(row => !seen.has(word(row)));
    return { form: texts[all[0][2][0]], runs: all.filter(row => word(row) === word(all[0])).length };
  });
  await page.fill("#find-word", unseen.form);
  await page.locator("#word-list button").first().click();
  const said = await page.locator("#word").textContent();
  check(said.includes(`Not seen to be reached in ${unseen.runs} runs, data seed`), `it is said to be unseen: ${said}`);
  check(said.includes("(not every word is asked for)") && said.includes("not seen") && !said.includes("never"), "and why");
  await page.fill("#find-word", "no such word at all");
  check((await page.locator("#word-list").textContent()).includes("No such word"), "an unknown word is said to be so");

  // Light, dark and paper.
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await page.click("#theme");
  check(await background() !== light, "the theme changes");
  await page.emulateMedia({ media: "print" });
  check(await background() === "rgb(255, 255, 255)", "paper is white");
  check(!await page.locator("header").isVisible(), "no controls on paper");
  await page.emulateMedia({ media: "screen" });
  check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing runs off the side");
});
