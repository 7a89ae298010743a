// Terms of the glossary are marked where they are used, once in a figure, a table or a paragraph, and say what they mean
// when hovered over, focused or tapped. The list at the end of the page is where they come from.
const terms = $$("#glossary dt").map(head => {
  const meaning = head.nextElementSibling;
  return { id: meaning.id, name: head.textContent, text: meaning.textContent, words: head.dataset.words.split(";") };
});
const termOf = new Map(terms.flatMap(term => term.words.map(word => [word.toLowerCase(), term])));
const byId = new Map(terms.map(term => [term.id, term]));
const SKIPPED = "svg, script, code, pre, input, select, a, h1, h2, dfn, #glossary, .samples, #word-list, .p, .banner, [data-plain]";
const SCOPES = "figure, table, .answers > li, p, li, .choosers, section";
const escaped = word => word.replace(/[|.*+?^${}()[\]\\]/g, "\\$&");
const letters = "[\\p{L}\\p{N}\\p{M}†₀₁₂_]";
const written = terms.flatMap(term => term.words).filter(word => !word.startsWith("*")).sort((a, b) => b.length - a.length);
const pattern = new RegExp(`(?<!${letters})(?:${written.map(word => (word.length > 3 ? anyCase(word) : escaped(word))).join("|")})(?!${letters})`, "gu");

/** The word with its first letter in either case. */
function anyCase(word) {
  const [first, ...rest] = word;
  return `[${escaped(first.toUpperCase())}${escaped(first)}]${escaped(rest.join(""))}`;
}

/** An `A` that begins a sentence may be an article; a letter that stands alone in the middle of one is a name. */
function isArticle(text, at, word) {
  if (word !== "A") return false;
  const after = text.slice(at + 1);
  return /^ \p{Ll}/u.test(after) && !/^ (and|or|against|with|to|than|in|goes|has|go|beside) /u.test(after) && !/\p{L}[,;:]? $/u.test(text.slice(0, at));
}

function mark(node, term) {
  // A button cannot hold a stop of its own: it carries the term itself.
  const button = node.parentElement.closest("button, summary");
  if (button) {
    button.dataset.term = term.id;
    button.setAttribute("aria-describedby", term.id);
    return;
  }
  const marked = element("dfn");
  marked.dataset.term = term.id;
  marked.tabIndex = 0;
  marked.setAttribute("aria-describedby", term.id);
  node.replaceWith(marked);
  marked.append(node);
}

function markTerms(within) {
  if (!terms.length || !within) return;
  const seen = new WeakMap();
  const isNew = (node, term) => {
    const scope = node.parentElement.closest(SCOPES) ?? within;
    if (!seen.has(scope)) seen.set(scope, new Set($$("[data-term]", scope).map(marked => marked.dataset.term)));
    const had = seen.get(scope).has(term.id);
    seen.get(scope).add(term.id);
    return !had;
  };
  const walker = document.createTreeWalker(within, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) {
    if (walker.currentNode.data.trim() && !walker.currentNode.parentElement.closest(SKIPPED)) nodes.push(walker.currentNode);
  }
  for (let node of nodes) {
    const italic = node.parentElement.localName === "i" && (termOf.get(`*${node.data}*`.toLowerCase()) ?? termOf.get(node.data.toLowerCase()));
    if (italic) {
      if (isNew(node, italic)) mark(node, italic);
      continue;
    }
    let from = 0;
    for (const match of node.data.matchAll(pattern)) {
      const term = termOf.get(match[0].toLowerCase());
      if (!term || isArticle(match.input, match.index, match[0]) || !isNew(node, term)) continue;
      const found = node.splitText(match.index - from);
      node = found.splitText(match[0].length);
      from = match.index + match[0].length;
      mark(found, term);
    }
  }
}
markTerms($("main"));

let leaving;
const tell = target => {
  clearTimeout(leaving);
  const { name, text } = byId.get(target.dataset.term);
  showTip(`${name}: ${text}`, target);
};
const term = event => event.target.closest?.("[data-term]");
document.addEventListener("pointerover", event => {
  const target = term(event);
  if (target && event.pointerType === "mouse") tell(target);
  else if (event.target.closest?.("#tip")) clearTimeout(leaving);
});
document.addEventListener("pointerout", event => {
  if ((term(event) || event.target.closest?.("#tip")) && event.pointerType === "mouse") leaving = setTimeout(hideTip, 200);
});
document.addEventListener("focusin", event => { if (term(event)) tell(term(event)); });
document.addEventListener("focusout", event => { if (term(event)) hideTip(); });
document.addEventListener("click", event => {
  const target = term(event);
  if (!target) return event.target.closest?.("#tip") ? undefined : hideTip();
  // A term inside a label does not also press what the label is for.
  if (target.localName === "dfn") event.preventDefault();
  tell(target);
});
