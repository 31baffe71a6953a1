// Pictures of an explanation: source words, pieces, votes, ways to select.

function make(tag, text, className) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
}

function plain(piece) {
  return piece === "</s>" ? "‹end›" : piece.replaceAll("▁", "") || "␣";
}

/** A button for each source word; one of them is in the tab order. */
export function showWords(place, words, select, selected) {
  const focused = place.contains(document.activeElement);
  const buttons = words.map((word, number) => {
    const button = make("button", word.text);
    button.type = "button";
    button.append(" ", make("span", String(word.number), "count"));
    button.setAttribute("aria-label", `${word.text}: brings in ${word.number} tokens`);
    for (const event of ["pointerenter", "focus", "click"]) {
      button.addEventListener(event, () => select(number));
    }
    return button;
  });
  place.replaceChildren(...buttons);
  if (focused && buttons[selected]) buttons[selected].focus();
}

/** The unrestricted translation piece by piece; gives the number that selection cannot reach. */
export function showPieces(place, explanation, selection) {
  const tokens = explanation ? explanation.texts[0].tokens : [];
  let lost = 0;
  place.replaceChildren(...tokens.flatMap((token, number) => {
    const span = make("span", plain(token.piece));
    span.dataset.voter = token.voter;
    if (token.missing.includes(selection)) {
      lost += 1;
      span.classList.add("lost");
      span.title = "out of reach";
      span.append(make("span", " (out of reach) ", "visually-hidden"));
    }
    return token.piece.startsWith("▁") && number > 0 ? [" ", span] : [span];
  }));
  return lost;
}

/** What one source word voted for, and its pieces of the translation. */
export function showVotes(place, pieces, word) {
  const own = [];
  for (const span of pieces.children) {
    const chosen = word !== undefined && span.dataset.voter === word.text;
    span.classList.toggle("chosen", chosen);
    if (chosen) own.push(span.firstChild.textContent);
  }
  if (word === undefined) {
    place.replaceChildren();
    return;
  }
  const list = make("ol");
  for (const vote of word.votes) {
    const item = make("li");
    item.append(make("span", plain(vote.piece)), make("span", vote.probability.toFixed(4), "number"));
    list.append(item);
  }
  const said = own.length ? ` It votes most for ${own.join(" · ")} of the translation.` : "";
  const more = word.number > word.votes.length ? `, the highest ${word.votes.length}:` : ":";
  place.replaceChildren(
    make("p", word.number
      ? `“${word.text}” brings in ${word.number} ${word.number === 1 ? "token" : "tokens"}.${said} ` +
        `Its votes${more}`
      : `“${word.text}” brings in no token by itself.${said}`),
    list,
  );
}

const NAMES = { none: "All tokens", lexicon: "Lexicon", nvs: "Neural selection" };

/** Every way to select as a card, with what differs from the unrestricted translation marked. */
export function showWays(place, answers, unrestricted) {
  const cards = ["none", "lexicon", "nvs"].filter((name) => answers[name]).map((name) => {
    const answer = answers[name];
    const [one] = answer.translations;
    const card = make("article", undefined, "way");
    const text = make("p");
    text.lang = answer.target;
    text.append(...marked(one.translation, unrestricted));
    card.append(
      make("h3", NAMES[name]),
      text,
      make("p", `${one.set_size.toLocaleString("en")} tokens · ${one.timing.engine_ms.toFixed(1)} ms` +
        (name === "none" ? "" : ` · ${answer.selection}`), "soft"),
    );
    return card;
  });
  place.replaceChildren(...cards);
}

/** Words of a text, marked where the other text does not have them in this order. */
function marked(text, other) {
  const ours = text.split(/(\s+)/);
  const common = longestCommon(ours, other.split(/(\s+)/));
  return ours.map((word, place) =>
    common.has(place) || !word.trim() ? document.createTextNode(word) : make("mark", word, "changed"));
}

function longestCommon(a, b) {
  if (a.length * b.length > 1e6) return new Set(a.keys());
  const best = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      best[i][j] = a[i] === b[j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
    }
  }
  const kept = new Set();
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) { kept.add(i); i += 1; j += 1; }
    else if (best[i + 1][j] >= best[i][j + 1]) i += 1;
    else j += 1;
  }
  return kept;
}
