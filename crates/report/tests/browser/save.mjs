// What can be saved from the page: the numbers are those of the table, to six digits; the drawing is a picture of its own.
import { readFileSync, readdirSync } from "node:fs";
import { alone, check, open } from "./open.mjs";

const file = `file://${process.argv[2]}`;
const expected = process.argv[3];

await open(file, alone(file), async page => {
  const save = async (figure, kind) => {
    const waiting = page.waitForEvent("download").catch(() => { throw new Error(`${figure}: no ${kind}`); });
    await page.click(`#fig-${figure} [data-save=${kind}]`);
    const saved = await waiting;
    return { name: saved.suggestedFilename(), bytes: readFileSync(await saved.path()) };
  };
  const unfold = () => page.evaluate(() => document.querySelectorAll("details.further").forEach(details => { details.open = true; }));
  const cells = bytes => bytes.toString("utf8").split(/[,\n]/);
  const same = (one, other) => one === other || Math.abs(one - other) <= 1e-5 * Math.abs(other);
  await unfold();
  const tables = readdirSync(expected);
  for (const [place, table] of tables.entries()) {
    // A browser lets a page save ten files; only a hand on the mouse makes it count anew.
    if (place % 8 === 7) { await page.reload(); await unfold(); }
    const { name, bytes } = await save(table.replace(".csv", ""), "csv");
    check(name === table, `${name}, not ${table}`);
    const [saved, written] = [bytes, readFileSync(`${expected}/${table}`)].map(cells);
    check(saved.length === written.length && saved.every((cell, at) => same(cell, written[at])), `${table} is the table`);
  }
  console.log(`${tables.length} tables`);

  await page.reload();
  await unfold();
  await page.waitForFunction(() => document.querySelector("#fig-dynamics").dataset.shown !== undefined);
  await page.click("#theme"); // Dark on screen, light in files.
  const { name, bytes } = await save("dynamics", "svg");
  const text = bytes.toString("utf8");
  check(/^dynamics.*\.svg$/.test(name), name);
  const parts = await page.evaluate(svg => {
    const read = new DOMParser().parseFromString(svg, "image/svg+xml");
    const root = read.documentElement;
    return { error: read.querySelector("parsererror")?.textContent, name: root.localName, space: root.namespaceURI, width: root.getAttribute("width"), title: root.querySelector("title")?.textContent };
  }, text);
  check(!parts.error && parts.name === "svg" && parts.space.endsWith("/2000/svg") && parts.width.endsWith("pt"), JSON.stringify(parts));
  check(parts.title.length > 10, "it says what it shows");
  check(!/var\(|data-t|class=|tabindex|undefined/.test(text) && text.includes("#ffffff"), "colours are written out, and nothing of the page is left");

  const png = (await save("dynamics", "png")).bytes;
  check(png.subarray(0, 8).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])), "a PNG");
  check(png.readUInt32BE(16) > 1700, `${png.readUInt32BE(16)} pixels wide`);
  check(png.length > 20000, "with something on it");

  // Another variant has another name.
  const select = page.locator("#fig-dynamics select").first();
  await select.selectOption(String(Number(await select.inputValue()) ? 0 : 1));
  await page.waitForTimeout(200);
  check((await save("dynamics", "svg")).name !== name, "the file is named after what is on show");
});
