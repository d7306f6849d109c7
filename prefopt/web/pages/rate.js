// The rater's page: the token is what follows the # of the link, so it is in no request's address and in no log.
import { mount } from "/ask.js";
import { caller, tokenOfPage } from "/call.js";

const token = tokenOfPage();
const el = document.getElementById("ask");
const call = caller(token);

// A name for this link that does not tell the token, for what the browser keeps (FNV-1a).
function shortName(text) {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ character.codePointAt(0), 0x01000193) >>> 0;
  return hash.toString(16);
}

const transport = {
  ask: async () => {
    const screen = await call("GET", "/api/screen");
    if (screen.question) document.title = screen.question.text;
    return screen;
  },
  answer: (entry) => call("POST", "/api/answers", entry),
  undo: (entry) => call("POST", "/api/undo", entry),
};

if (token) mount(el, transport, { key: shortName(token) });
else {
  el.classList.add("prefopt");
  el.textContent = "This address is not complete: open the link that you were given, with everything after the #.";
}
