// The live page: a run advances, and the page shows it by itself.
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { open, check } from "./open.mjs";

const [url, run, lines] = process.argv.slice(2);

await open(url, asked => [url, `blob:${url}`, "data:"].some(own => asked.startsWith(own)), async page => {
  const step = () => page.locator("table.runs tbody tr td:nth-child(3)").first().textContent();
  const before = Number(await step());
  await page.selectOption("#fig-dynamics select[data-name=condition]", "2");
  await page.waitForTimeout(2500);
  check(Number(await step()) === before, "nothing moves while nothing is measured");
  appendFileSync(`${run}/metrics.jsonl`, readFileSync(lines));
  const status = JSON.parse(readFileSync(`${run}/status.json`));
  // Without a checksum, as older versions wrote it.
  delete status.seal;
  writeFileSync(`${run}/status.json`, JSON.stringify({ ...status, step: before + 100 }));
  await page.waitForFunction(
    old => Number(document.querySelector("table.runs tbody tr td:nth-child(3)")?.textContent) > old,
    before,
  );
  check(await page.locator("#fig-dynamics select[data-name=condition]").inputValue() === "2", "what was chosen stays chosen");
  check(await page.locator("#live").textContent() === "live", "it says that it is live");
  // The server's policy lets drawings be saved.
  for (const kind of ["csv", "png"]) {
    const waiting = page.waitForEvent("download");
    await page.click(`#fig-dynamics [data-save=${kind}]`);
    check((await waiting).suggestedFilename().endsWith(`.${kind}`), kind);
  }
});
