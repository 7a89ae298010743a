// Opens a page in Chromium and keeps a list of everything that went wrong in it.
import { chromium } from "playwright-core";

const FLAGS = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

/** A page from disk may ask for itself and for what it holds, and for nothing else. */
export const alone = file => url => url === file || url.startsWith(`${file}#`) || url.startsWith("data:") || url.startsWith("blob:");

/** Runs `steps(page)` on the page at `url`; a fault, a failed step or a request outside `allowed` ends with status 1. */
export async function open(url, allowed, steps, options = {}) {
  const browser = await chromium.launch({ executablePath: process.env.INVITRO_CHROMIUM, chromiumSandbox: false, args: FLAGS });
  const faults = [];
  try {
    const page = await browser.newPage({ viewport: { width: 1100, height: 900 }, ...options });
    page.setDefaultTimeout(20000);
    page.on("console", message => { if (["error", "warning"].includes(message.type())) faults.push(`console: ${message.text()}`); });
    page.on("pageerror", error => faults.push(`page: ${error}`));
    page.on("request", request => { if (!allowed(request.url())) faults.push(`request: ${request.url()}`); });
    const started = Date.now();
    await page.goto(url, { waitUntil: "load" });
    console.log(`loaded in ${Date.now() - started} ms`);
    await steps(page);
  } catch (error) {
    faults.push(String(error));
  } finally {
    await browser.close();
  }
  for (const fault of faults) console.error(fault);
  process.exit(faults.length ? 1 : 0);
}

export function check(holds, what) {
  if (!holds) throw new Error(what);
}

// Scrolls to an element, and waits until the page has heard of it: tips are closed by scrolling.
export async function scrollTo(element) {
  await element.scrollIntoViewIfNeeded();
  await element.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
}
