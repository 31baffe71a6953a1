// The page: translates while one types and shows what selection did. Asks this server alone.
// Nothing that comes from it is ever read as markup: texts go in as text.

import { line, ask, Refusal } from "/static/server.js";
import { showPieces, showVotes, showWays, showWords } from "/static/show.js";

const THRESHOLDS = [0.01, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 0.9999];
const PAUSE = 150; // milliseconds without a key before the translation is asked for
const LONGER_PAUSE = 450; // before everything else is

const $ = (id) => document.getElementById(id);
const state = { abort: null, timers: [], selected: 0, explanation: null };

function lambda() {
  return THRESHOLDS[Number($("threshold").value)];
}

function pair() {
  return { source: $("from").value, target: $("to").value };
}

async function begin() {
  try {
    const [languages, settings] = await Promise.all([
      ask("/languages"), ask("/frontend/settings"),
    ]);
    state.languages = languages;
    $("key-line").hidden = !settings.keyRequired;
    for (const one of languages) $("from").append(new Option(one.name, one.code));
    const english = languages.find((one) => one.code === "en");
    $("from").value = (english || languages[0]).code;
    fillTargets();
  } catch (error) {
    complain(error);
  }
}

function fillTargets(wish) {
  const own = state.languages.find((one) => one.code === $("from").value);
  const others = own.targets.filter((code) => code !== own.code);
  const names = new Map(state.languages.map((one) => [one.code, one.name]));
  $("to").replaceChildren(...others.map((code) => new Option(names.get(code) || code, code)));
  if (others.includes(wish)) $("to").value = wish;
  $("source").lang = own.code;
  $("output").lang = $("to").value;
}

function changed() {
  state.timers.forEach(clearTimeout);
  if (state.abort) state.abort.abort();
  state.abort = new AbortController();
  const signal = state.abort.signal;
  $("output").classList.add("stale");
  state.timers = [
    setTimeout(() => guarded(translate, signal), PAUSE),
    setTimeout(() => guarded(explain, signal), LONGER_PAUSE),
  ];
}

async function guarded(work, signal) {
  try {
    await work(signal);
    $("notice").hidden = true;
  } catch (error) {
    if (error.name !== "AbortError") complain(error);
  }
}

function complain(error) {
  $("notice").textContent = error instanceof Refusal ? error.message
    : "The server does not answer. Is it still running?";
  $("notice").hidden = false;
}

function wanted(text, more) {
  const key = $("key").value;
  return { texts: [text], ...pair(), ...more, ...(key ? { api_key: key } : {}) };
}

async function translate(signal) {
  const text = $("source").value;
  if (!text.trim()) {
    $("output").textContent = "";
    $("output").classList.remove("stale");
    return;
  }
  const found = await ask("/v1/translate", wanted(text, { threshold: lambda() }), signal);
  const [one] = found.translations;
  if ($("output").textContent !== one.translation) $("output").textContent = one.translation;
  $("output").classList.remove("stale");
  const share = (100 * one.set_size) / Math.max(1, found.vocabulary_size);
  $("size").textContent = `${one.set_size.toLocaleString("en")} of ` +
    `${found.vocabulary_size.toLocaleString("en")} (${share.toFixed(1)} %)`;
  $("time").textContent = `${one.timing.engine_ms.toFixed(1)} ms`;
}

async function explain(signal) {
  const text = line($("source"));
  if (!text) {
    state.explanation = null;
    showWords($("words"), [], select);
    for (const id of ["pieces", "votes", "ways"]) $(id).replaceChildren();
    for (const id of ["size", "time", "change"]) $(id).textContent = "–";
    return;
  }
  // one after the other: side by side they would share the cores that they are timed on
  const answers = {};
  const get = (more) => ask("/v1/translate", wanted(text, more), signal);
  answers.nvs = await get({ threshold: lambda(), explain: true });
  const { explanation } = answers.nvs.translations[0];
  const lexicon = explanation && explanation.systems.find(
    (one) => one.selection.startsWith("lexicon"));
  if (lexicon) answers.lexicon = await get({ selection: lexicon.selection });
  answers.none = await get({ selection: "none" });
  present(answers);
}

function present(answers) {
  const { none, nvs } = answers;
  const explanation = nvs.translations[0].explanation;
  state.explanation = explanation;
  const unrestricted = none.translations[0].translation;
  const words = explanation ? explanation.words : [];
  state.selected = Math.min(state.selected, Math.max(0, words.length - 1));
  showWords($("words"), words, select, state.selected);
  const lost = showPieces($("pieces"), explanation, nvs.selection);
  select(state.selected);
  const same = nvs.translations[0].translation === unrestricted;
  $("change").textContent = (same ? "the same translation" : "another translation") +
    (lost ? `, ${lost} ${lost === 1 ? "piece" : "pieces"} out of reach` : "");
  $("votes-hint").textContent = explanation
    ? "Point at a source word, or reach it with the Tab and arrow keys."
    : "This line is too long to explain, or its model has no selection head.";
  showWays($("ways"), answers, unrestricted);
}

function select(place) {
  state.selected = place;
  const words = state.explanation ? state.explanation.words : [];
  [...$("words").children].forEach((button, number) => {
    button.setAttribute("aria-pressed", String(number === place));
    button.tabIndex = number === place ? 0 : -1;
  });
  showVotes($("votes"), $("pieces"), words[place]);
}

function moved(event) {
  const buttons = [...$("words").children];
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const ends = { Home: 0, End: buttons.length - 1 }[event.key];
  const here = buttons.indexOf(document.activeElement);
  if ((step === undefined && ends === undefined) || here < 0) return;
  event.preventDefault();
  const next = ends ?? (here + step + buttons.length) % buttons.length;
  buttons[next].focus();
}

function slid() {
  $("threshold-value").textContent = String(lambda());
  $("threshold").setAttribute("aria-valuetext", `lambda ${lambda()}`);
}

$("source").addEventListener("input", changed);
$("threshold").addEventListener("input", () => { slid(); changed(); });
$("from").addEventListener("change", () => { fillTargets($("to").value); changed(); });
$("to").addEventListener("change", () => { $("output").lang = $("to").value; changed(); });
$("key").addEventListener("change", changed);
$("words").addEventListener("keydown", moved);
$("swap").addEventListener("click", () => {
  const { source, target } = pair();
  const text = $("output").textContent;
  $("from").value = target;
  fillTargets(source);
  if (text) $("source").value = text;
  changed();
});
$("copy").addEventListener("click", async () => {
  await navigator.clipboard.writeText($("output").textContent);
  $("copy").textContent = "Copied";
  setTimeout(() => { $("copy").textContent = "Copy"; }, 1500);
});
slid();
begin();
