// Asks one question after another: cards, answers, keys, media. Knows nothing of how messages travel.
//
//   mount(element, transport, {key, keys, breakEvery, titleLevel}) -> {stop}
//
// transport: {ask(), answer(entry), undo(entry)}, each gives a promise.
//   ask() -> {state: "question" | "enough" | "paused" | "gone", question, progress: {answered, more}, last, message}
//   answer({id, question, kind, options, infeasible, reason, seconds}) -> anything, once the answer is safe
//   undo({id, question}) -> anything; `question` is the `last` of the screen before
//   A rejection with `final` true means that sending again is of no use; any other is tried again later.
// Options go by their position on the screen. An answer keeps its id however often it is sent, so it counts once.

const SETTLE = 350; // ms after a question has appeared in which a key or click cannot be meant for it
const MEDIA_PATIENCE = 20000; // ms until a question is shown although a picture or sound is not there yet
const BREAK_MINUTES = 20;
const REASONS = ["I cannot tell", "I could not see or hear it properly", "None of them is acceptable", "Another reason"];

export function mount(el, transport, options = {}) {
  const asker = new Asker(el, transport, options);
  asker.start();
  return asker;
}

// The same in a notebook: https://anywidget.dev calls this with the model of a cell's output.
export default {
  render({ model, el }) {
    const asker = mount(el, commTransport(model), { key: model.get("key"), keys: "element", titleLevel: 3 });
    return () => asker.stop();
  },
};

// Requests as numbered messages over a notebook's comm: {call, name, entry} there, {call, reply} or {call, error} back.
export function commTransport(model) {
  const waiting = new Map();
  let calls = 0;
  model.on("msg:custom", (message) => {
    const done = waiting.get(message.call);
    if (!done) return;
    waiting.delete(message.call);
    if (message.error) done.reject(Object.assign(new Error(message.error.message), message.error));
    else done.resolve(message.reply);
  });
  const send = (name) => (entry) =>
    new Promise((resolve, reject) => {
      waiting.set(++calls, { resolve, reject });
      model.send({ call: calls, name, entry });
    });
  return { ask: send("ask"), answer: send("answer"), undo: send("undo") };
}

class Asker {
  constructor(el, transport, { key = "study", keys = "document", breakEvery = 25, titleLevel = 1 }) {
    Object.assign(this, { el, transport, breakEvery, titleLevel });
    this.outbox = new Outbox(`prefopt-outbox-${key}`);
    this.mode = "best";
    this.named = []; // positions of a ranking so far
    this.sinceBreak = 0;
    this.breakAt = Date.now() + BREAK_MINUTES * 60000;
    this.target = keys === "document" ? document : el;
    this.onKey = (event) => this.key(event);
    this.onPlay = (event) => this.silenceOthers(event.target);
    this.onOnline = () => this.wake?.();
  }

  start() {
    this.el.classList.add("prefopt");
    this.target.addEventListener("keydown", this.onKey);
    this.el.addEventListener("play", this.onPlay, true);
    window.addEventListener("online", this.onOnline);
    this.notice = make("p", { class: "pf-notice", role: "status" });
    this.stage = make("div", { class: "pf-stage" });
    this.el.replaceChildren(this.stage, this.notice);
    this.next();
  }

  stop() {
    this.stopped = true;
    this.wake?.();
    this.target.removeEventListener("keydown", this.onKey);
    this.el.removeEventListener("play", this.onPlay, true);
    window.removeEventListener("online", this.onOnline);
  }

  // Everything unsent goes first, then comes the next screen; the network may fail in between for as long as it likes.
  async next() {
    this.busy = true;
    let message = "";
    for (let attempt = 0; !this.stopped; attempt++) {
      try {
        message = (await this.flush()) || message;
        const screen = await this.transport.ask();
        if (this.stopped) return;
        this.say(message);
        return await this.show(screen);
      } catch (error) {
        if (error.final) return this.plain("This does not work any more", error.message);
        const kept = this.outbox.entries.length ? "Your answer is kept here and will be sent" : "It goes on";
        this.say(`No connection. ${kept} as soon as there is one.`, "waiting");
        await this.pause(Math.min(10000, 500 * 2 ** Math.min(attempt, 5)));
      }
    }
  }

  async flush() {
    let message = "";
    while (this.outbox.entries.length) {
      try {
        await this.transport.answer(this.outbox.entries[0]);
      } catch (error) {
        if (!error.final || error.status === 401) throw error;
        message = `An answer was not taken: ${error.message}`;
      }
      this.outbox.shift();
    }
    return message;
  }

  pause(ms) {
    return new Promise((resolve) => {
      this.wake = resolve;
      setTimeout(resolve, ms);
    });
  }

  say(text, kind = "") {
    this.notice.textContent = text;
    this.notice.dataset.kind = kind;
  }

  async show(screen) {
    this.screen = screen;
    if (screen.state === "question" && this.breakIsDue()) return this.showBreak();
    if (screen.state === "question") return this.showQuestion(screen.question);
    this.question = null;
    const titles = { enough: "Thank you, that is enough", paused: "A pause", gone: "This link has ended" };
    this.plain(titles[screen.state] ?? "Nothing to ask", screen.message);
    if (screen.last != null) this.stage.append(this.bar([this.undoButton()]));
    this.busy = false;
    if (screen.state === "paused") {
      await this.pause(5000);
      if (this.screen === screen && !this.busy) this.next();
    }
  }

  plain(title, text) {
    this.question = null;
    const box = make("div", { class: "pf-plain" }, this.title(title), make("p", {}, text ?? ""));
    this.stage.replaceChildren(box);
    this.focusTitle();
  }

  breakIsDue() {
    return this.sinceBreak && (this.sinceBreak >= this.breakEvery || Date.now() > this.breakAt);
  }

  showBreak() {
    const screen = this.screen;
    this.plain("Time for a break", `You have answered ${this.sinceBreak} questions. Look away for a minute; answers get better.`);
    const go = button("Go on", "Enter", () => {
      this.sinceBreak = 0;
      this.breakAt = Date.now() + BREAK_MINUTES * 60000;
      this.show(screen);
    });
    go.classList.add("pf-main");
    this.stage.append(this.bar([go]));
    this.busy = false;
    go.focus();
  }

  title(text) {
    return make(`h${this.titleLevel}`, { class: "pf-title", tabindex: "-1" }, text);
  }

  // So that a screen reader reads on from there; in a notebook only if the person is here already.
  focusTitle() {
    if (this.target !== document && !this.el.contains(document.activeElement)) return;
    this.stage.querySelector(".pf-title")?.focus({ preventScroll: true });
  }

  async showQuestion(question) {
    this.busy = true;
    this.question = question;
    this.mode = "best";
    this.named = [];
    const cards = question.cards.map((card, i) => this.card(card, i));
    this.cards = cards;
    const head = make("div", { class: "pf-head" }, this.title(question.text), this.progress());
    this.hint = make("p", { class: "pf-hint" });
    const grid = make("div", { class: `pf-cards pf-cards-${cards.length}`, role: "group", "aria-label": "Options" }, ...cards.map((c) => c.box));
    grid.setAttribute("aria-busy", "true");
    const tools = this.tools(cards.length);
    const wasHere = this.el.contains(document.activeElement);
    this.stage.replaceChildren(head, this.hint, grid, tools);
    if (wasHere) this.stage.querySelector(".pf-title").focus({ preventScroll: true });
    this.label();
    this.stage.classList.add("pf-loading");
    const ready = Promise.all(cards.map((c) => c.ready));
    await Promise.race([ready, new Promise((resolve) => setTimeout(resolve, MEDIA_PATIENCE))]);
    if (this.question !== question || this.stopped) return;
    this.stage.classList.remove("pf-loading");
    grid.setAttribute("aria-busy", "false");
    this.shownAt = performance.now();
    this.el.dataset.question = question.number;
    this.busy = false;
    if (!this.el.querySelector("dialog[open]")) this.focusTitle();
  }

  progress() {
    const { answered = 0, more = null } = this.screen.progress ?? {};
    const left = more == null ? "" : more > 0 ? `, about ${more} more` : "";
    const line = make("p", { class: "pf-progress" }, `${answered} answered${left}`);
    if (more == null || answered + more === 0) return line;
    const bar = make("progress", { max: answered + more, value: answered, "aria-label": "Answered so far" });
    return make("div", { class: "pf-progress-box" }, line, bar);
  }

  card(card, position) {
    const name = `Option ${position + 1}`;
    const { node, ready } = content(card, name);
    const pick = make("button", { type: "button", class: "pf-pick", "aria-keyshortcuts": `${position + 1}` });
    pick.addEventListener("click", () => this.pick(position));
    const shown = make("div", { class: `pf-content pf-${card.kind}` }, node);
    if (["table", "text", "image"].includes(card.kind)) {
      shown.classList.add("pf-clickable");
      shown.addEventListener("click", () => getSelection().isCollapsed && this.pick(position));
    }
    const box = make("section", { class: "pf-card", "aria-label": name }, make("p", { class: "pf-name", "aria-hidden": "true" }, name), shown, pick);
    return { box, pick, ready, name };
  }

  tools(count) {
    const modes = [];
    if (count > 2) {
      for (const [mode, text, key] of [["best", "Best", "b"], ["worst", "Worst", "w"], ["ranking", "Ranking", "r"]]) {
        const toggle = button(text, key, () => this.setMode(mode));
        toggle.dataset.mode = mode;
        modes.push(toggle);
      }
    }
    const parts = [
      button("About the same", "=", () => this.answer("tie")),
      button("Skip …", "s", () => this.skip()),
      this.undoButton(),
      button("Keys", "?", () => this.help()),
    ];
    const bar = this.bar(parts);
    if (modes.length) bar.prepend(make("div", { class: "pf-modes", role: "group", "aria-label": "Say which is" }, ...modes));
    return bar;
  }

  bar(children) {
    return make("div", { class: "pf-bar" }, ...children);
  }

  undoButton() {
    const undo = button("Undo", "u", () => this.undo());
    undo.disabled = this.screen?.last == null;
    return undo;
  }

  setMode(mode) {
    if (!this.question || this.question.cards.length < 3) return;
    this.mode = mode;
    this.named = [];
    this.label();
  }

  // What the buttons say, in the current mode.
  label() {
    const count = this.cards.length;
    const texts = { best: count === 2 ? "Better" : "Best", worst: "Worst" };
    this.cards.forEach(({ pick, box, name }, i) => {
      const place = this.named.indexOf(i);
      const text = this.mode === "ranking" ? (place < 0 ? `Place ${this.named.length + 1}` : `Place ${place + 1} ✓`) : texts[this.mode];
      pick.replaceChildren(text, " ", make("kbd", { "aria-hidden": "true" }, `${i + 1}`));
      pick.setAttribute("aria-label", `${name}: ${text}`);
      pick.setAttribute("aria-pressed", this.mode === "ranking" ? String(place >= 0) : "false");
      box.classList.toggle("pf-chosen", place >= 0);
    });
    for (const toggle of this.stage.querySelectorAll("[data-mode]")) {
      toggle.setAttribute("aria-pressed", String(toggle.dataset.mode === this.mode));
    }
    const hints = { ranking: "Choose from best to worst; choosing one again takes it back.", worst: "Choose the worst one.", best: "" };
    this.hint.textContent = hints[this.mode];
  }

  pick(position) {
    if (this.isTooSoon()) return;
    if (this.mode !== "ranking") return this.answer(this.mode, [position]);
    const at = this.named.indexOf(position);
    if (at >= 0) this.named.splice(at);
    else this.named.push(position);
    if (this.named.length === this.cards.length - 1) {
      const rest = this.cards.findIndex((_, i) => !this.named.includes(i));
      return this.answer("ranking", [...this.named, rest]);
    }
    this.label();
  }

  isTooSoon() {
    return this.busy || !this.question || performance.now() - this.shownAt < SETTLE;
  }

  answer(kind, options = [], more = {}) {
    if (this.isTooSoon()) return;
    this.busy = true;
    const seconds = Math.round(performance.now() - this.shownAt) / 1000;
    this.outbox.push({ id: newId(), question: this.question.number, kind, options, seconds, ...more });
    this.sinceBreak += kind !== "skip";
    for (const i of options.slice(0, 1)) this.cards[i]?.box.classList.add("pf-chosen");
    this.stage.classList.add("pf-leaving");
    for (const medium of this.el.querySelectorAll("audio, video")) medium.pause();
    this.next().finally(() => this.stage.classList.remove("pf-leaving"));
  }

  async undo() {
    if (this.busy || this.screen?.last == null) return;
    this.busy = true;
    const entry = { id: newId(), question: this.screen.last };
    try {
      await this.transport.undo(entry);
      this.sinceBreak = Math.max(0, this.sinceBreak - 1);
      await this.next();
      this.say("The last answer is taken back.");
    } catch (error) {
      this.busy = false;
      if (error.final) await this.next();
      this.say(error.final ? error.message : "No connection; nothing was taken back.");
    }
  }

  skip() {
    if (this.isTooSoon()) return;
    const group = `pf-reason-${newId()}`;
    const choices = REASONS.map((reason, i) => {
      const radio = make("input", { type: "radio", name: group, value: reason });
      radio.checked = i === 0;
      return make("label", {}, radio, " ", reason);
    });
    const other = make("input", { type: "text", maxlength: "200", "aria-label": "Another reason, in your words" });
    other.addEventListener("input", () => (choices.at(-1).firstChild.checked = true));
    const missing = this.cards.map(({ name }, i) => make("label", {}, make("input", { type: "checkbox", value: `${i}` }), " ", name));
    const form = make("form", { method: "dialog" },
      make("fieldset", {}, make("legend", {}, "Why do you skip this one?"), ...choices, other),
      make("fieldset", {}, make("legend", {}, "Which could not be shown or made? (those are not asked again)"), ...missing));
    const { dialog, bar } = this.dialog("Skip this question", form);
    form.append(bar);
    bar.prepend(make("button", { type: "submit", class: "pf-main", value: "skip" }, "Skip"));
    dialog.addEventListener("close", () => {
      if (dialog.returnValue !== "skip") return;
      const chosen = form.querySelector("input[type=radio]:checked").value;
      const reason = chosen === REASONS.at(-1) && other.value.trim() ? other.value.trim() : chosen;
      const infeasible = [...form.querySelectorAll("input[type=checkbox]:checked")].map((box) => Number(box.value));
      this.answer("skip", [], { reason, infeasible });
    });
  }

  help() {
    const count = this.cards?.length ?? 2;
    const keys = [[`1 to ${count}`, "choose that option"], ["Shift + 1, 2, …", "play or stop that option"]];
    if (count > 2) keys.push(["b, w, r", "say the best, the worst, or a ranking"]);
    keys.push(["= or 0", "about the same"], ["s", "skip"], ["u", "undo"], ["?", "these keys"]);
    const rows = keys.map(([key, what]) => make("tr", {}, make("th", { scope: "row" }, make("kbd", {}, key)), make("td", {}, what)));
    const { bar, dialog } = this.dialog("Keys", make("table", { class: "pf-keys" }, ...rows));
    dialog.append(bar);
  }

  dialog(title, ...children) {
    const id = `pf-${newId()}`;
    const dialog = make("dialog", { class: "pf-dialog", "aria-labelledby": id }, make("h2", { id }, title), ...children);
    const close = button("Close", "Esc", () => dialog.close(""));
    const before = document.activeElement;
    dialog.addEventListener("close", () => {
      dialog.remove();
      before?.focus?.({ preventScroll: true });
    });
    this.el.append(dialog);
    dialog.showModal();
    return { dialog, bar: make("div", { class: "pf-bar" }, close) };
  }

  key(event) {
    const typing = event.target.closest?.("input, textarea, select, dialog");
    if (typing || event.ctrlKey || event.altKey || event.metaKey || event.repeat || event.defaultPrevented) return;
    const digit = /^(Digit|Numpad)([1-9])$/.exec(event.code)?.[2] ?? /^[1-9]$/.exec(event.key)?.[0];
    const isPlay = event.shiftKey && digit && event.key !== digit;
    if (isPlay && this.play(Number(digit) - 1)) return event.preventDefault();
    const actions = {
      "=": () => this.answer("tie"), 0: () => this.answer("tie"), s: () => this.skip(), u: () => this.undo(), "?": () => this.help(),
      b: () => this.setMode("best"), w: () => this.setMode("worst"), r: () => this.setMode("ranking"),
    };
    const chosen = /^[1-9]$/.test(event.key) ? Number(event.key) - 1 : -1;
    if (chosen >= 0 && this.question && chosen < this.cards.length) this.pick(chosen);
    else if (Object.hasOwn(actions, event.key) && (this.question || event.key === "u")) actions[event.key]();
    else return;
    event.preventDefault();
  }

  play(position) {
    const medium = this.cards?.[position]?.box.querySelector("audio, video");
    if (!medium) return false;
    if (medium.paused) medium.play().catch(() => {});
    else medium.pause();
    return true;
  }

  silenceOthers(playing) {
    for (const medium of document.querySelectorAll("audio, video")) if (medium !== playing) medium.pause();
  }
}

// Answers that are not safe yet; they outlive the page.
class Outbox {
  constructor(key) {
    this.key = key;
    this.entries = [];
    try {
      this.entries = JSON.parse(localStorage.getItem(key) ?? "[]");
    } catch {
      // no storage here: the answers live as long as the page
    }
  }
  push(entry) {
    this.entries.push(entry);
    this.save();
  }
  shift() {
    this.entries.shift();
    this.save();
  }
  save() {
    try {
      if (this.entries.length) localStorage.setItem(this.key, JSON.stringify(this.entries));
      else localStorage.removeItem(this.key);
    } catch {
      // as above
    }
  }
}

// The element that shows a card's content, and a promise of its being there.
function content(card, name) {
  const now = Promise.resolve();
  if (card.kind === "table") {
    const rows = card.rows.map(([key, value]) => make("tr", {}, make("th", { scope: "row" }, key), make("td", {}, value)));
    return { node: make("table", {}, make("tbody", {}, ...rows)), ready: now };
  }
  if (card.kind === "markdown") return { node: safeCopy(card.text), ready: now };
  if (card.kind === "html") {
    const frame = make("iframe", { sandbox: "allow-scripts", title: name, referrerpolicy: "no-referrer" });
    if (card.url) frame.src = card.url;
    else frame.srcdoc = card.text;
    return { node: frame, ready: arrival(frame, "load") };
  }
  if (card.kind === "image") {
    const image = make("img", { alt: `Picture of ${name.toLowerCase()}` });
    image.src = card.url;
    return { node: image, ready: arrival(image, "load") };
  }
  if (card.kind === "audio" || card.kind === "video") {
    const medium = make(card.kind, { controls: "", preload: "auto", playsinline: "", "aria-label": `${card.kind === "audio" ? "Sound" : "Film"} of ${name.toLowerCase()}` });
    medium.src = card.url;
    return { node: medium, ready: arrival(medium, "loadeddata") };
  }
  return { node: make("p", {}, card.text ?? ""), ready: now };
}

function arrival(node, event) {
  return new Promise((resolve) => {
    node.addEventListener(event, resolve, { once: true });
    node.addEventListener("error", () => {
      node.replaceWith(make("p", { class: "pf-broken" }, "This could not be shown. Skip, and say so."));
      resolve();
    }, { once: true });
  });
}

const ALLOWED = new Set("P H1 H2 H3 H4 H5 H6 UL OL LI EM STRONG CODE PRE BLOCKQUOTE TABLE THEAD TBODY TR TH TD BR HR DEL S".split(" "));

// HTML made from Markdown, copied element by element without attributes: nothing in it can act.
function safeCopy(html) {
  const copy = (from, to) => {
    for (const child of from.childNodes) {
      if (child.nodeType === Node.TEXT_NODE) to.append(child.data);
      else if (ALLOWED.has(child.nodeName)) to.append(copy(child, document.createElement(child.nodeName)));
    }
    return to;
  };
  return copy(new DOMParser().parseFromString(html, "text/html").body, make("div", { class: "pf-prose" }));
}

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

function button(text, key, action) {
  const node = make("button", { type: "button", "aria-keyshortcuts": key }, text, " ", make("kbd", { "aria-hidden": "true" }, key));
  node.addEventListener("click", action);
  return node;
}

function newId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
