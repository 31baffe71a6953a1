// Asking the server, and what of the text to ask about.

export class Refusal extends Error {}

/** The answer of the server as an object; a Refusal where it says no. */
export async function ask(path, body, signal) {
  const response = await fetch(path, body === undefined ? { signal } : {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });
  const answer = await response.json();
  if (!response.ok) throw new Refusal(answer.error || `The server answered ${response.status}.`);
  return answer;
}

/** The line that the cursor is in: what is explained. */
export function line(area) {
  const before = area.value.slice(0, area.selectionStart).split("\n");
  const own = area.value.split("\n")[before.length - 1].trim();
  return own || area.value.split("\n").map((one) => one.trim()).find(Boolean) || "";
}
