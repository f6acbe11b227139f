// SPDX-License-Identifier: Apache-2.0
// The behaviour of the page. Content of items is inserted as text, never as markup.
"use strict";
const by = (id) => document.getElementById(id);
const [query, results, more, stage] = ["query", "results", "more", "stage"].map(by);
const page = crypto.randomUUID();
// The apps and kinds among the hits, with their numbers, from which the user chooses filters.
const facets = { app: new Map(), kind: new Map() }, filters = { app: null, kind: null };
// The text that found these hits.
let facetText = "";
let turn = 0, hits = [], next = null, total = null, chosen = -1, searching = null, looking = null, shownFor = "", waiting = 0;
// The text of the last search, which may have other words than the field; and whether corrections are off.
let searched = "", asTyped = false;

// Icons: outlines in a square of 24.
const icons = {
  archive: "M4 5h16v4H4zM5.5 9v10h13V9M10 13h4", audio: "M9 18V6l10-2v12M9 18a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0zM19 16a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0z",
  close: "M7 7l10 10M17 7 7 17", back: "M14.5 5.5 8 12l6.5 6.5", calendar: "M4.5 6h15v14h-15zM4.5 10h15M8.5 3.5v4M15.5 3.5v4",
  code: "M8.5 7 3.5 12l5 5M15.5 7l5 5-5 5", document: "M6 3.5h8l4.5 4.5v12.5H6zM14 3.5V8h4.5",
  down: "m6.5 9.5 5.5 5.5 5.5-5.5", filter: "M4 6h16M7 12h10M10 18h4", folder: "M3.5 6h6l2 2.5h9V19h-17z",
  image: "M3.5 5h17v14h-17zM4 17l5-5 3.5 3.5L15.5 12.5 20 17M15.5 9h.01",
  lens: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM15.5 15.5 20.5 20.5",
  link: "M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7L12 7M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.7L12 17",
  mail: "M3.5 6h17v12h-17zM4 6.5l8 6.5 8-6.5", movie: "M3.5 6h12v12h-12zM15.5 10.5l5-3v9l-5-3",
  pdf: "M6 3.5h8l4.5 4.5v12.5H6zM14 3.5V8h4.5M9 13h6.5M9 16.5h4.5",
  person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.5 20c.8-3.6 3.7-5.5 7.5-5.5s6.7 1.9 7.5 5.5",
  call: "M6 4.5h3.5l1.5 4-2 1.5c1 2 2.5 3.5 4.5 4.5l1.5-2 4 1.5V17.5c0 1-1 2-2 2C10 19.5 4.5 14 4 6.5c0-1 1-2 2-2Z",
  navigate: "M12 20.5c4-4.5 6-7.5 6-10.5a6 6 0 0 0-12 0c0 3 2 6 6 10.5ZM12 7.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5Z",
  launch: "M13 4.5h6.5V11M19.5 4.5 11 13M10 5.5H5v13.5h13.5V14",
  spelling: "M4 16 8 6l4 10M5.5 12.5h5M13.5 15.5l2.5 2.5 5-6",
  save: "M12 4v11M7.5 11 12 15.5l4.5-4.5M5 19.5h14", text: "M6 3.5h12v17H6zM9 8h6M9 11.5h6M9 15h4",
};
function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS(svg.namespaceURI, "path");
  svg.setAttribute("viewBox", "0 0 24 24");
  path.setAttribute("d", icons[name] ?? icons.document);
  svg.append(path);
  return svg;
}
function element(name, properties = {}, ...content) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...content);
  return made;
}
const marked = (pieces) => pieces.map((piece) => piece.found ? element("mark", {}, piece.text) : piece.text);

// Sends a request to the server. The signal of a newer request aborts it.
async function ask(address, parameters, signal) {
  const reply = await fetch(address + "?" + new URLSearchParams(parameters), { signal });
  const value = await reply.json();
  if (!reply.ok) throw new Error(value.error ?? "The server answered " + reply.status + ".");
  return value;
}

// Searching: each change sends a new request and aborts the previous one.
async function search(following = false) {
  const text = query.value;
  searching?.abort();
  const own = searching = new AbortController();
  if (!text.trim()) { correct(null, ""); return show([], null, "", following); }
  try {
    const parameters = { q: text, page, n: ++turn };
    for (const name in filters) if (filters[name]) parameters[name] = filters[name];
    if (following) parameters.cursor = next;
    if (asTyped) parameters.typed = 1;
    const found = await ask("api/search", parameters, own.signal);
    correct(found.correction, text);
    if (!following) total = found.total ?? null;
    show(found.hits, found.next ?? null, text, following);
  } catch (problem) {
    if (own === searching && problem.name !== "AbortError") explain("Search Failed", problem.message);
  }
}
// Shows the corrected text of the search.
function correct(pieces, text) {
  searched = pieces ? pieces.map((piece) => piece.text).join("") : text;
  by("correction").hidden = !pieces;
  by("correction").firstElementChild.replaceChildren(...(pieces ?? []).map((piece) => piece.found ? element("em", {}, piece.text) : piece.text));
}
function show(found, following, text, isMore) {
  const first = isMore ? hits.length : 0;
  const kept = isMore ? chosen : -1;
  hits = isMore ? hits.concat(found) : found;
  next = following;
  if (!isMore) results.replaceChildren();
  results.append(...found.map((hit, index) => row(hit, first + index)));
  more.hidden = next === null;
  summarize(text);
  by("nothing").hidden = hits.length > 0;
  if (!hits.length && text) explain("No Results", "Nothing is found for “" + text + "”" + (isFiltered() ? " with these filters." : "."));
  if (!text) explain("Search Everything", "Find notes, mail, bookmarks and other items of your apps.");
  if (!isMore) results.parentElement.scrollTop = 0;
  if (isMore) choose(kept + 1); else { chosen = -1; choose(hits.length ? 0 : -1); }
}
function explain(title, text) {
  by("nothing").hidden = false;
  by("nothing").children[1].textContent = title;
  by("nothing").children[2].textContent = text;
  if (title === "Search Failed") { results.replaceChildren(); hits = []; more.hidden = by("summary").hidden = true; choose(-1); }
}

// Shows the number of hits, and a button for each app and kind among them. While a filter is in use, the other buttons of its row
// stay, so that the user can switch to another filter. After a change of the text, only the button of the filter in use stays.
const maximumChips = 5;
const isFiltered = () => Boolean(filters.app || filters.kind);
function summarize(text) {
  by("summary").hidden = !text || (!hits.length && !isFiltered());
  const count = total && hits.length ? total.count : 0;
  by("count").textContent = (total && !total.isExact ? "more than " : "") + count.toLocaleString("en") + " found" + (searched === text ? "" : " for “" + searched + "”");
  for (const name in facets) {
    const pressed = filters[name] && facets[name].get(filters[name]);
    if (pressed && facetText === text) continue;
    facets[name] = new Map();
    for (const hit of hits) {
      const value = name === "app" ? hit.app : hit.type;
      if (!value) continue;
      const known = facets[name].get(value) ?? { label: name === "app" ? appName(hit) : hit.kind, count: 0 };
      facets[name].set(value, { ...known, count: known.count + 1 });
    }
    if (filters[name] && !facets[name].has(filters[name])) facets[name].set(filters[name], { label: pressed?.label ?? filters[name], count: 0 });
  }
  facetText = text;
  const focused = document.activeElement?.dataset?.facet;
  by("filters").replaceChildren(...Object.keys(facets).flatMap(chips));
  if (focused) document.querySelector("[data-facet=" + CSS.escape(focused) + "]")?.focus();
}
// An app without a display name is shown by the last part of its identifier.
const appName = (hit) => hit.bundle === hit.app ? hit.app.split(".").pop() : hit.bundle;
function chips(name) {
  const labels = [...facets[name].values()].map((one) => one.label);
  const all = [...facets[name]].sort(([one, a], [other, b]) =>
    (other === filters[name]) - (one === filters[name]) || b.count - a.count || a.label.localeCompare(b.label));
  // A single value is no choice.
  if (all.length < 2 && !filters[name]) return [];
  return all.slice(0, maximumChips).map(([value, one]) => {
    const isPressed = filters[name] === value;
    // Two apps may have the same name.
    const label = labels.filter((other) => other === one.label).length > 1 ? value : one.label;
    const made = element("button", { type: "button", className: "chip", title: value, ariaPressed: String(isPressed) },
      element("span", { dir: "auto" }, label), ...(isPressed ? [icon("close")] : []));
    made.dataset.facet = name + " " + value;
    made.setAttribute("aria-label", (name === "app" ? "App " : "Kind ") + label);
    made.addEventListener("click", () => { filters[name] = isPressed ? null : value; search(); });
    return made;
  });
}

// The thumbnails of shown items by address, so that each is requested once; null after a failure.
const pictures = new Map(), maximumPictures = 400;
function picture(hit, frame) {
  if (!hit.thumbnail) return;
  let made = pictures.get(hit.thumbnail);
  if (made === null) return;
  if (!made) {
    // A lazy image loads when it scrolls into view, so it must be in the document before that. It
    // stays hidden until it is loaded.
    made = element("img", { src: hit.thumbnail, alt: "", loading: "lazy", draggable: false, className: "loading" });
    made.addEventListener("load", () => { made.className = ""; made.parentElement?.replaceChildren(made); });
    made.addEventListener("error", () => { pictures.set(hit.thumbnail, null); made.remove(); });
    if (pictures.size >= maximumPictures) pictures.delete(pictures.keys().next().value);
    pictures.set(hit.thumbnail, made);
  }
  if (made.className) frame.append(made); else frame.replaceChildren(made);
}
function row(hit, index) {
  const frame = element("span", { className: "icon", ariaHidden: "true" }, icon(hit.icon));
  picture(hit, frame);
  const made = element("li", { id: "hit-" + index, role: "option", draggable: true, ariaSelected: "false" }, frame,
    element("span", { className: "name", dir: "auto" }, ...marked(hit.title)), element("time", {}, day(hit.date)),
    element("span", { className: "words", dir: "auto" }, ...marked(hit.snippet)),
    element("span", { className: "kind" }, [hit.kind, hit.bundle].filter(Boolean).join(" · ")));
  made.addEventListener("click", () => { choose(index); watch(); open(); });
  made.addEventListener("dragstart", (event) => { choose(index); carry(event, hit, hit.offer); made.classList.add("dragged"); });
  made.addEventListener("dragend", (event) => { made.classList.remove("dragged"); dropped(event, hit); });
  return made;
}
function day(seconds) {
  if (seconds === undefined || seconds === null) return "";
  const date = new Date(seconds * 1000), now = new Date();
  const form = date.getFullYear() === now.getFullYear() ? { day: "numeric", month: "short" }
    : { day: "numeric", month: "short", year: "numeric" };
  return new Intl.DateTimeFormat(undefined, form).format(date);
}

// Starts a drag of a hit. The receiver gets a URL, and the server makes the file when the receiver
// requests it.
function carry(event, hit, offer) {
  const data = event.dataTransfer;
  data.effectAllowed = "copyLink";
  const name = hit.title.map((piece) => piece.text).join("");
  if (offer) {
    data.setData("DownloadURL", [offer.media, offer.file, new URL(offer.url, location.href).href].join(":"));
    fetch("api/prewarm/" + hit.id).catch(() => {});
  }
  if (hit.url) { data.setData("text/uri-list", hit.url); data.setData("text/plain", hit.url); }
  else data.setData("text/plain", name);
}

// Suggestions: the list below the search field. It is open while the user types, and closes when
// the user chooses a suggestion.
let suggestions = [], picked = -1, suggesting = null;
const isSuggesting = () => suggestions.length > 0;
async function suggest() {
  suggesting?.abort();
  const own = suggesting = new AbortController(), text = query.value;
  if (!text.trim()) return offer([]);
  try {
    const found = await ask("api/suggest", { q: text, page, n: ++turn }, own.signal);
    if (own === suggesting) offer(found.suggestions);
  } catch {
    if (own === suggesting) offer([]);
  }
}
function offer(found) {
  suggestions = found;
  picked = -1;
  by("suggestions").hidden = !found.length;
  by("suggestions").replaceChildren(...found.map((one, index) => {
    const count = one.count === undefined ? "" : one.count + (one.isExact ? "" : "+") + (one.count === 1 ? " item" : " items");
    const made = element("li", { id: "suggestion-" + index, role: "option", ariaSelected: "false" },
      icon(suggestionIcons[one.kind] ?? "lens"), element("span", { dir: "auto" }, one.text), element("small", {}, count));
    // The field keeps the focus.
    made.addEventListener("mousedown", (event) => event.preventDefault());
    made.addEventListener("click", () => take(index));
    return made;
  }));
  announce();
}
const suggestionIcons = { person: "person", filter: "filter", title: "text", correction: "spelling" };
function pick(index) {
  by("suggestion-" + picked)?.setAttribute("aria-selected", "false");
  picked = index < -1 ? suggestions.length - 1 : index >= suggestions.length ? -1 : index;
  const option = by("suggestion-" + picked);
  option?.setAttribute("aria-selected", "true");
  option?.scrollIntoView({ block: "nearest" });
  announce();
}
// Puts a suggestion into the search field, so that the user can continue to type: without a space
// after a filter that still needs a value, with a space after a complete word.
function take(index) {
  const taken = suggestions[index];
  query.value = taken.text + (taken.count === undefined ? "" : " ");
  asTyped = false;
  close();
  offer([]);
  if (taken.count === undefined) suggest(); else suggesting?.abort();
  search();
}
function dismiss() { suggesting?.abort(); offer([]); }
// Names the option that the keys move to: a suggestion if one is picked, or else a result.
function announce() {
  const option = picked >= 0 ? "suggestion-" + picked : chosen >= 0 && !isSuggesting() ? "hit-" + chosen : null;
  query.setAttribute("aria-controls", isSuggesting() ? "suggestions" : "results");
  query.setAttribute("aria-expanded", String(isSuggesting() || hits.length > 0));
  if (option) query.setAttribute("aria-activedescendant", option);
  else query.removeAttribute("aria-activedescendant");
}

// Counts use: a drop, a save, and a preview that the user chose and kept open for ten seconds.
const engaged = (hit, kind) =>
  fetch("api/engaged/" + hit.id + "?" + new URLSearchParams({ q: query.value, kind }), { keepalive: true }).catch(() => {});
const dropped = (event, hit) => { if (event.dataTransfer.dropEffect !== "none") engaged(hit, "drag"); };
let watching = 0;
function watch() {
  const hit = hits[chosen];
  clearTimeout(watching);
  if (hit) watching = setTimeout(() => { if (hits[chosen] === hit && isShown()) engaged(hit, "preview"); }, 10000);
}
const isShown = () => !document.hidden && (!isNarrow() || document.body.classList.contains("shows-preview"));

// Choosing: aborts the previous preview, here and in the extension that renders it.
function choose(index) {
  by("hit-" + chosen)?.setAttribute("aria-selected", "false");
  chosen = Math.max(-1, Math.min(index, hits.length - 1));
  const option = by("hit-" + chosen);
  option?.setAttribute("aria-selected", "true");
  option?.scrollIntoView({ block: "nearest" });
  announce();
  look();
}
async function look() {
  const hit = hits[chosen], text = searched, wanted = hit ? hit.id + " " + text : "";
  if (wanted === shownFor) return;
  shownFor = wanted;
  looking?.abort();
  const own = looking = new AbortController();
  clearTimeout(waiting);
  by("idle").hidden = Boolean(hit);
  if (!hit) { by("about").hidden = by("note").hidden = true; stage.replaceChildren(); close(); return; }
  stage.classList.add("stale");
  describe(hit.title.map((piece) => piece.text).join(""), [hit.kind, hit.bundle], hit, hit.offer ? [hit.offer] : []);
  try {
    const preview = await ask("api/preview/" + hit.id, { q: text, page, n: ++turn }, own.signal);
    if (own === looking) present(preview, hit);
  } catch (problem) {
    if (own !== looking || problem.name === "AbortError") return;
    stage.classList.remove("stale");
    stage.replaceChildren();
    note(problem.message, []);
  }
}
function present(preview, hit) {
  const size = preview.size ? Math.round(preview.size.width) + " × " + Math.round(preview.size.height) : "";
  describe(preview.title, [preview.type, hit.bundle, size], hit, preview.offers);
  const removals = preview.removals.map((one) => one.example).filter(Boolean);
  if (preview.problem) note(preview.problem, []);
  else if (preview.removed) note("Removed from this preview: " + preview.removed, removals);
  else by("note").hidden = true;
  stage.classList.remove("stale");
  if (preview.kind === "image") {
    return stage.replaceChildren(element("figure", {}, element("img", { src: preview.content, alt: preview.title })));
  }
  if (preview.kind === "pdf") {
    // The browser's own viewer opens in no sandbox, so it gets a window of its own.
    const link = element("a", { href: preview.content, target: "_blank", rel: "noopener", className: "document" },
      icon("pdf"), element("b", {}, "Open PDF"), element("small", {}, bytes(preview.length)));
    return stage.replaceChildren(element("figure", {}, link));
  }
  const frame = element("iframe", { title: "Preview of " + preview.title });
  // The frame runs no scripts.
  frame.setAttribute("sandbox", "allow-popups allow-popups-to-escape-sandbox");
  frame.src = preview.frame;
  stage.replaceChildren(frame);
}
function bytes(count) {
  return count < 1e6 ? Math.max(1, Math.round(count / 1e3)) + " KB" : (count / 1e6).toFixed(1) + " MB";
}
function describe(title, facts, hit, offers) {
  by("about").hidden = false;
  by("title").textContent = title;
  by("facts").textContent = facts.filter(Boolean).join(" · ");
  const link = (offer, ...content) => {
    const made = element("a", { href: offer.url, download: offer.file, draggable: true, title: offer.type }, ...content);
    made.addEventListener("dragstart", (event) => carry(event, hit, offer));
    made.addEventListener("dragend", (event) => dropped(event, hit));
    made.addEventListener("click", () => engaged(hit, "drag"));
    return made;
  };
  const best = offers.slice(0, 1).map((offer) => link(offer, icon("save"), "Save"));
  const all = offers.map((offer) => link(offer, offer.name, element("small", {}, offer.type)));
  const others = offers.length > 1 ? [element("details", {},
    element("summary", { ariaLabel: "Save as another type" }, icon("down")), element("menu", {}, ...all))] : [];
  const launcher = element("button", { type: "button", title: "Open in its app (O)" }, icon("launch"), "Open");
  launcher.addEventListener("click", () => launch(hit));
  const names = { call: "Call", navigate: "Show on map" };
  const actions = hit.actions.map((action) => {
    const made = element("button", { type: "button" }, icon(action), names[action] ?? action);
    made.addEventListener("click", () => launch(hit, action));
    return made;
  });
  by("offers").replaceChildren(launcher, ...actions, ...best, ...others);
}
// Opens an item in its app. The server starts the app, so the request is a POST.
let launching = false;
async function launch(hit, action) {
  if (!hit || launching) return;
  launching = true;
  try {
    const wanted = action ? { q: query.value, action } : { q: query.value };
    const reply = await fetch("api/open/" + hit.id + "?" + new URLSearchParams(wanted), { method: "POST" });
    const value = await reply.json();
    if (hits[chosen] !== hit) return;
    if (!reply.ok) note(value.error ?? "The server answered " + reply.status + ".", []);
    else if (value.delivery === "nothing") note(value.app + " was started; it has no way to be given this item.", []);
  } catch (problem) {
    if (hits[chosen] === hit) note(problem.message, []);
  } finally {
    launching = false;
  }
}
function note(text, examples) {
  by("note").hidden = false;
  by("note").open = false;
  by("note").firstElementChild.textContent = text;
  by("note").lastElementChild.replaceChildren(...examples.map((example) => element("li", {}, element("code", {}, example))));
  by("note").classList.toggle("plain", examples.length === 0);
}

// On a narrow window the preview takes the place of the results.
const open = () => document.body.classList.toggle("shows-preview", chosen >= 0);
const close = () => { clearTimeout(watching); document.body.classList.remove("shows-preview"); };
const isNarrow = () => matchMedia("(max-width: 760px)").matches;

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const isTyping = event.target === query;
  const menu = document.querySelector("#offers details[open]");
  const moves = isTyping && isSuggesting();
  if (moves && event.key === "ArrowDown") pick(picked + 1);
  else if (moves && event.key === "ArrowUp") pick(picked - 1);
  else if (moves && event.key === "Tab" && !event.shiftKey) take(Math.max(0, picked));
  else if (moves && event.key === "Escape") dismiss();
  else if (moves && event.key === "Enter" && picked >= 0) take(picked);
  else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    if (menu || !hits.length || document.body.classList.contains("shows-preview")) return;
    if (event.key === "ArrowDown" && chosen === hits.length - 1 && next) search(true).then(watch);
    else { choose(Math.max(0, chosen + (event.key === "ArrowDown" ? 1 : -1))); watch(); }
  } else if (event.key === "Enter" && isTyping && (chosen >= 0 || moves)) {
    dismiss();
    if (chosen < 0) return;
    open();
    watch();
    by("preview").focus();
  } else if (event.key === "Escape") {
    if (menu) menu.open = false;
    else if (document.body.classList.contains("shows-preview")) { close(); query.focus(); }
    else if (!isTyping) query.focus();
    else { query.value = ""; asTyped = false; filters.app = filters.kind = null; search(); }
  } else if (event.key === "o" && !isTyping && chosen >= 0) {
    launch(hits[chosen]);
  } else if (event.key === "/" && !isTyping) {
    close();
    query.focus();
    query.select();
  } else return;
  event.preventDefault();
});
document.addEventListener("click", (event) => {
  const menu = document.querySelector("#offers details[open]");
  if (menu && (!menu.contains(event.target) || event.target.closest("a"))) menu.open = false;
});
query.addEventListener("input", () => { asTyped = false; search(); suggest(); });
query.addEventListener("blur", dismiss);
by("correction").lastElementChild.addEventListener("click", () => { asTyped = true; query.focus(); search(); });
more.addEventListener("click", () => search(true));
by("back").addEventListener("click", () => { close(); if (!isNarrow()) query.focus(); });
// Leaving the page aborts all requests.
addEventListener("pagehide", () => { searching?.abort(); looking?.abort(); });
by("lens").append(icon("lens"));
by("back").append(icon("back"));
by("nothing").firstElementChild.append(icon("lens"));
by("idle").firstElementChild.append(icon("document"));
search();
