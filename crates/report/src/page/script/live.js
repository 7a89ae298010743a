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
