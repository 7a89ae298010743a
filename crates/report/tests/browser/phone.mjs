// The page on a phone: nothing runs off the side, all text can be read, and terms answer to a tap.
import { alone, check, open, scrollTo } from "./open.mjs";

const file = `file://${process.argv[2]}`;

await open(file, alone(file), async page => {
  await page.evaluate(() => document.querySelectorAll("details").forEach(details => { details.open = true; }));
  if (await page.locator("#words").count()) {
    await page.locator("#words[data-ready]").waitFor();
    await page.locator("#word-list button").first().click();
  }
  await page.waitForFunction(() => [...document.querySelectorAll("figure .narrow")].every(place => place.childElementCount));
  await page.waitForTimeout(300);
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  check(width <= 420, `the page is ${width} pixels wide`);
  const small = await page.evaluate(() => {
    const faults = new Set();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    while (walker.nextNode()) {
      const node = walker.currentNode;
      const parent = node.parentElement;
      if (!node.data.trim() || parent.closest("script, template, option") || !parent.getClientRects().length) continue;
      range.selectNodeContents(node);
      const matrix = parent.closest("svg") && parent.getScreenCTM?.();
      const scale = matrix ? Math.hypot(matrix.a, matrix.b) : 1;
      const size = parseFloat(getComputedStyle(parent).fontSize) * scale;
      // What is seen is never smaller than its letters.
      const { height } = range.getBoundingClientRect();
      if (height > 0 && size < 10.99) faults.add(`${size.toFixed(1)} px: ${node.data.trim().slice(0, 40)} (${parent.closest("figure, section")?.id})`);
    }
    return [...faults];
  });
  check(small.length === 0, `text too small: ${small.slice(0, 20).join("; ")}, ${small.length} in all`);
  check(await page.locator("figure .wide svg:visible").count() === 0, "only the narrow drawings are shown");
  const wide = await page.locator("figure .narrow svg:visible").evaluateAll(all => all.filter(svg => svg.getBoundingClientRect().right > innerWidth).length);
  check(wide === 0, "drawings keep to the screen");

  const tip = page.locator("#tip");
  const term = page.locator("figure figcaption dfn").first();
  await scrollTo(term);
  await term.tap();
  await tip.waitFor({ state: "visible" });
  const box = await tip.boundingBox();
  check(box.x >= 0 && box.x + box.width <= 420, "the tip keeps to the screen");
  await page.keyboard.press("Escape");
  check(await tip.isHidden(), "Escape closes it");
}, { viewport: { width: 420, height: 900 }, hasTouch: true, isMobile: true });
