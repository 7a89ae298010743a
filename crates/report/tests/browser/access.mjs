// The page for keyboards and screen readers: axe's rules in both themes, headings, landmarks, and the glossary.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { alone, check, open, scrollTo } from "./open.mjs";

const file = `file://${process.argv[2]}`;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

await open(file, alone(file), async page => {
  // The first stop of the keyboard leads past the controls.
  await page.keyboard.press("Tab");
  check(await page.evaluate(() => document.activeElement.className) === "skip", "a link to skip by");
  await page.keyboard.press("Enter");
  check(await page.evaluate(() => document.activeElement.id) === "main", "leads to the content");

  await page.evaluate(() => document.querySelectorAll("details").forEach(details => { details.open = true; }));
  await page.locator("figure .numbers td").first().waitFor();
  await page.waitForFunction(() => [...document.querySelectorAll("figure[data-folded]")].every(figure => figure.dataset.shown !== undefined));
  if (await page.locator("#words").count()) {
    await page.locator("#words[data-ready]").waitFor();
    await page.locator("#word-list button").first().click();
  }
  await page.evaluate(axe);
  for (const theme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: theme });
    const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
    const told = violations.map(({ id, impact, nodes }) => `${id} (${impact}): ${nodes.length}, as ${nodes[0].html.slice(0, 200)} ${nodes[0].failureSummary}`);
    const serious = violations.filter(({ impact }) => ["serious", "critical", "moderate"].includes(impact));
    check(serious.length === 0, `${theme}: ${told.join("\n")}`);
  }

  const levels = await page.locator("h1, h2, h3, h4").evaluateAll(all => all.map(one => Number(one.localName[1])));
  check(levels[0] === 1 && levels.filter(level => level === 1).length === 1, "one first heading");
  check(levels.every((level, at) => at === 0 || level <= levels[at - 1] + 1), `no level is left out: ${levels}`);
  for (const landmark of ["header", "header nav", "main"]) check(await page.locator(landmark).count() === 1, landmark);
  const unnamed = await page.locator(".drawing svg:visible").evaluateAll(all => all.filter(svg => svg.getAttribute("role") !== "img" || !svg.getAttribute("aria-label")).length);
  check(unnamed === 0, "every drawing says what it shows");

  // A term says what it means when hovered over, and when focused; Escape closes it.
  const tip = page.locator("#tip");
  const term = page.locator("figure figcaption dfn").first();
  await scrollTo(term);
  await term.hover();
  await tip.waitFor({ state: "visible" });
  const meaning = await page.locator(`#${await term.getAttribute("aria-describedby")}`).textContent();
  check((await tip.textContent()).endsWith(meaning), "the meaning of the glossary");
  await page.keyboard.press("Escape");
  check(await tip.isHidden(), "Escape closes it");
  await page.mouse.move(2, 2);
  await term.focus();
  check(await tip.isVisible(), "shown on focus");
  await page.keyboard.press("Escape");
  check(await tip.isHidden(), "and closed");
  await term.evaluate(one => one.blur());
  const marked = await page.locator("dfn").allTextContents();
  for (const word of ["λ", "V", "B†", "contrast", "β̂"]) check(marked.includes(word), `${word} is marked among ${[...new Set(marked)]}`);
  check(await page.locator("svg dfn, #glossary dfn, code dfn").count() === 0, "not in drawings, not in the list itself");
  const articles = await page.locator("dfn").evaluateAll(all => all.filter(one => one.textContent === "A" && /^ (line|panel|word|piece|curve|run|point|study)/.test(one.nextSibling?.data ?? "")).length);
  check(articles === 0, "no article is a language");

  // Arrow keys go through the points of a drawing.
  const drawing = page.locator("#fig-dynamics .wide svg, #fig-curves .wide svg").first();
  await drawing.focus();
  await page.keyboard.press("ArrowRight");
  const first = await tip.textContent();
  check(await tip.isVisible() && /step/.test(first), `the first point: ${first}`);
  await page.keyboard.press("ArrowRight");
  check(await tip.textContent() !== first, "and the next");
});
