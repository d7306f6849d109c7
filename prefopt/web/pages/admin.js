// The page of whoever runs the study: raters, answers, what is recommended and how sure that is.
import { caller, make, tokenOfPage } from "/call.js";
import { curve, history as convergenceChart, map, short } from "/charts.js";

const EVERY = 4000; // ms between two looks
const desk = document.getElementById("desk");
const call = caller(tokenOfPage());
const admin = (method, path, body, read) => call(method, `/api/admin/${path}`, body, read);
const percent = (share) => `${Math.round(100 * share)} %`;
const count = (n, thing) => `${n} ${thing}${n === 1 ? "" : "s"}`;

const parts = {};
for (const name of ["head", "best", "state", "raters", "links", "beliefs", "convergence", "validation", "history"]) parts[name] = make("div");
const panel = (title, part, wide) => make("section", { class: `panel${wide ? " wide" : ""}`, "aria-label": title }, make("h2", {}, title), part);
const notice = make("p", { role: "status", class: "warm" });
let seen = "";

function layout() {
  parts.round = roundForm();
  desk.replaceChildren(
    parts.head,
    notice,
    make("div", { class: "columns" },
      panel("Recommended now", parts.best),
      make("div", { class: "stack" }, panel("The study", parts.state), panel("How it came about", parts.convergence), panel("Blind validation", make("div", {}, parts.validation, parts.round))),
      panel("Raters", make("div", {}, parts.raters, raterForm(), parts.links), true),
      panel("What is believed", parts.beliefs, true),
      panel("Answers", parts.history, true)),
  );
}

async function act(action, said) {
  try {
    const result = await action();
    notice.textContent = said ?? "";
    await look();
    return result;
  } catch (error) {
    notice.textContent = error.message;
  }
}

function confirmWith(title, text, label, run, field = "Reason") {
  const input = make("input", { type: "text", maxlength: "200", required: true, "aria-label": field, placeholder: field });
  const form = make("form", { method: "dialog" }, make("h2", {}, title), make("p", { class: "soft" }, text),
    make("div", { class: "row" }, field ? input : null),
    make("div", { class: "row" }, make("button", { class: "main", value: "yes" }, label), make("button", { type: "button", onclick: () => dialog.close("") }, "Cancel")));
  const dialog = make("dialog", { "aria-label": title }, form);
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (dialog.returnValue === "yes") run(input.value.trim());
  });
  desk.append(dialog);
  dialog.showModal();
}

function drawHead(study) {
  document.title = study.name;
  const toggle = study.paused == null
    ? make("button", { onclick: () => confirmWith("Pause the study", "Raters are told, and wait.", "Pause", (reason) => act(() => admin("POST", "pause", { reason }), "Paused."), "What raters are told") }, "Pause")
    : make("button", { class: "main", onclick: () => act(() => admin("POST", "resume"), "It goes on.") }, "Resume");
  const undo = make("button", { onclick: () => act(() => admin("POST", "undo"), "The last answer is taken back; it can be restored below.") }, "Undo last answer");
  const save = ["csv", "json"].map((ending) => make("button", { onclick: () => act(() => download(ending)) }, `Export ${ending.toUpperCase()}`));
  const title = make("div", {}, make("h1", {}, study.name), make("p", { class: "soft" }, study.question));
  parts.head.replaceChildren(make("header", {}, title, make("div", { class: "row" }, toggle, undo, ...save)));
}

async function download(ending) {
  const blob = await admin("GET", `export.${ending}`, undefined, "blob");
  const link = make("a", { href: URL.createObjectURL(blob), download: `study.${ending}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function drawBest({ best }) {
  if (!best) return parts.best.replaceChildren(make("p", { class: "soft" }, "No answers yet, so nothing is known."));
  const others = best.runners_up.map((one) => make("tr", {}, make("td", {}, one.text), make("td", {}, percent(one.probability_best)), make("td", {}, `${one.mean.toFixed(2)} ± ${one.sd.toFixed(2)}`)));
  const head = make("thead", {}, make("tr", {}, ...["Runner-up", "the best with", "wins"].map((name) => make("th", { scope: "col" }, name))));
  parts.best.replaceChildren(
    make("p", { class: "best" }, best.text),
    make("p", {}, `${percent(best.probability_best)} sure that it is the best of ${best.candidate_set}`),
    make("meter", { min: 0, max: 1, value: best.probability_best, "aria-label": "How sure" }),
    make("p", { class: "soft" }, `${best.scale}: ${best.mean.toFixed(2)} ± ${best.sd.toFixed(2)}`),
    best.remark ? make("p", { class: "soft" }, best.remark) : "",
    others.length ? make("table", {}, head, make("tbody", {}, ...others)) : "",
  );
}

function drawState(study) {
  const { answered, budget, remaining } = study;
  const lines = [make("p", {}, budget == null ? count(answered, "answer") : `${answered} of ${count(budget, "planned answer")}, ${remaining} more`)];
  if (budget) lines.push(make("progress", { max: budget, value: Math.min(answered, budget), "aria-label": "Answers so far" }));
  if (study.paused != null) lines.push(make("p", { class: "warm" }, `Paused${study.paused ? `: ${study.paused}` : ""}`));
  if (study.enough) lines.push(make("p", { class: "warm" }, `Enough: ${study.enough}.`));
  if (study.problem) lines.push(make("p", { class: "warm" }, study.problem));
  lines.push(make("p", { class: "soft" }, `${study.query_size} of ${study.options} at a time, chosen by ${study.strategy}`));
  if (study.remarks.length) lines.push(make("h3", {}, "Worth knowing"), make("ul", {}, ...study.remarks.map((line) => make("li", {}, line))));
  parts.state.replaceChildren(...lines);
}

// Forms are made once: what somebody types survives every redrawing.
function raterForm() {
  const input = make("input", { type: "text", maxlength: "100", placeholder: "Name", "aria-label": "Name of a new rater" });
  const form = make("form", { class: "row" }, input, make("button", { class: "main" }, "Add a rater"));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const made = await act(() => admin("POST", "raters", { name: input.value.trim() }));
    if (!made) return;
    input.value = "";
    showLink(made);
  });
  return form;
}

function roundForm() {
  const each = make("input", { type: "number", min: "1", max: "50", value: "4", required: true });
  const form = make("form", { class: "row" }, make("label", { class: "row" }, "Comparisons with each rival", each), make("button", {}, "Begin a round"));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    await act(() => admin("POST", "validation", { each: Number(each.value) }), "The next questions are the validation; raters cannot tell.");
    parts.validation.querySelector("button")?.focus();
  });
  return make("div", { hidden: true }, make("p", { class: "soft" }, "The next questions compare what is recommended with the centre, options at random and the runner-up, shuffled and unannounced. Their answers teach the model nothing; an exact test says how surely it is better."), form);
}

function drawValidation({ validation, best }) {
  const lines = [];
  if (validation) lines.push(make("p", {}, `${validation.text} (recommended was ${validation.recommended}).`));
  if (validation && !validation.over) {
    const end = async () => {
      await act(() => admin("POST", "validation/end"), "Nothing more is asked for the validation.");
      parts.round.querySelector("input").focus();
    };
    lines.push(
      make("progress", { max: validation.planned, value: validation.answered, "aria-label": "Comparisons answered" }),
      make("div", { class: "row" }, make("button", { onclick: end, "aria-label": "End the round" }, "End the round")),
    );
  }
  if (!best) lines.push(make("p", { class: "soft" }, "There is nothing to validate before the first answer."));
  parts.round.hidden = !best || (validation && !validation.over);
  parts.validation.replaceChildren(...lines);
}

function showLink({ rater, link }) {
  const field = make("code", { class: "link" }, link);
  const copy = make("button", { onclick: () => navigator.clipboard?.writeText(link).then(() => (notice.textContent = "Copied.")) }, "Copy");
  const hide = make("button", { onclick: () => parts.links.replaceChildren() }, "Hide");
  parts.links.replaceChildren(make("p", {}, `Link for ${rater}. It is shown only now:`), field, make("div", { class: "row" }, copy, hide));
}

function drawRaters({ raters, reliability }) {
  const named = (path, rater) => `raters/${path}?rater=${encodeURIComponent(rater.id)}`;
  const called = (rater) => rater.name || rater.id;
  const rows = raters.map((rater) => {
    const remove = () => confirmWith(`Remove ${called(rater)}`, "The answers are kept and do not count; it can be taken back.", "Remove", (reason) => act(() => admin("POST", named("remove", rater), { reason })));
    const erase = () => confirmWith(`Erase ${called(rater)}`, "Name, link and pseudonym go for good; the answers stay.", "Erase for good", () => act(() => admin("POST", named("erase", rater), {})), "");
    const link = async () => { const made = await act(() => admin("POST", named("link", rater))); if (made) showLink(made); };
    const about = (text) => ({ "aria-label": `${text}: ${called(rater)}` });
    const buttons = {
      active: [make("button", { onclick: link, ...about("New link") }, "New link"), make("button", { onclick: remove, ...about("Remove") }, "Remove"), make("button", { onclick: erase, ...about("Erase") }, "Erase")],
      removed: [make("button", { onclick: () => act(() => admin("POST", named("restore", rater))), ...about("Restore") }, "Restore")],
    }[rater.status] ?? [];
    const cells = [rater.name || "–", rater.id, rater.answered, rater.skipped, rater.seconds == null ? "–" : `${rater.seconds.toFixed(1)} s`, rater.last ? new Date(rater.last).toLocaleString() : "–"];
    return make("tr", { class: rater.status === "removed" ? "off" : "" }, ...cells.map((cell) => make("td", {}, String(cell))), make("td", {}, make("div", { class: "row" }, ...buttons)));
  });
  const head = ["Name", "Pseudonym", "Answers", "Skips", "Median time", "Last answer", "Change"].map((name) => make("th", { scope: "col" }, name));
  const table = make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
  const lines = reliability.length ? [make("h3", {}, "How reliable"), make("ul", {}, ...reliability.map((line) => make("li", {}, line)))] : [];
  parts.raters.replaceChildren(scrollable("Raters", table), ...lines);
}

function scrollable(label, table) {
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, table);
}

function drawBeliefs(found) {
  if (found.bars) {
    const rows = found.bars.flatMap((bar) => {
      const name = typeof bar.params === "object" ? Object.entries(bar.params).map(([k, v]) => `${k} ${short(v)}`).join(", ") : String(bar.params);
      return [make("span", { class: "name" }, bar.recommended ? make("strong", {}, name) : name), make("meter", { min: 0, max: 1, value: bar.mean, "aria-label": name }), make("span", {}, `${bar.mean.toFixed(2)} ± ${bar.sd.toFixed(2)}`)];
    });
    return parts.beliefs.replaceChildren(make("p", { class: "soft" }, found.scale), make("div", { class: "bars" }, ...rows));
  }
  const group = (title, charts) => (charts.length ? [make("h3", {}, title), make("div", { class: "charts" }, ...charts)] : []);
  parts.beliefs.replaceChildren(
    make("p", { class: "soft" }, `${found.scale}; the band is one standard deviation, the dot what is recommended`),
    ...group("Each parameter, the others as recommended", found.curves.map((data) => curve(data, found.at[data.name]))),
    ...group("Each parameter, averaged over the others", found.effects.map((data) => curve(data, found.at[data.name]))),
    ...group("Two parameters", found.maps.map((data) => map(data, found.at))),
  );
}

function drawConvergence(moments) {
  if (moments.length < 2) return parts.convergence.replaceChildren(make("p", { class: "soft" }, "Two answers and more show a course."));
  const key = make("p", { class: "soft" }, "Of what was recommended then: chance to win with a band of one standard deviation; dashed, how sure that it is the best.");
  parts.convergence.replaceChildren(convergenceChart(moments), key);
}

function drawHistory(rows) {
  const shownText = (params) => (typeof params === "object" && params ? Object.entries(params).map(([k, v]) => `${k} ${short(v)}`).join(", ") : String(params));
  const answerText = (row) => {
    if (!row.answer) return row.status;
    const trial = row.validation ? ` (validation: ${row.validation})` : "";
    if (!row.named?.length) return (row.answer === "skip" ? `skip${row.reason ? `: ${row.reason}` : ""}` : row.answer) + trial;
    return `${row.answer} ${row.named.map((id) => row.shown.indexOf(id) + 1).join(", ")}${trial}`;
  };
  const lines = rows.map((row) => {
    const change = [];
    const question = row.question;
    const about = (text) => ({ "aria-label": `${text} the answer to question ${question}` });
    if (question && ["answered", "skipped"].includes(row.status)) {
      change.push(row.excluded
        ? make("button", { onclick: () => act(() => admin("POST", `answers/restore?question=${question}`)), ...about("Restore") }, "Restore")
        : make("button", { onclick: () => confirmWith(`Remove the answer to question ${question}`, "It is kept and does not count.", "Remove", (reason) => act(() => admin("POST", `answers/remove?question=${question}`, { reason }))), ...about("Remove") }, "Remove"));
    } else if (question && row.undone) {
      change.push(make("button", { onclick: () => act(() => admin("POST", `answers/restore?question=${question}`)), ...about("Restore") }, "Restore"));
    }
    const cells = [question ?? "–", row.rater ?? "–", (row.params ?? []).map((params, i) => `${i + 1}: ${shownText(params)}`).join(" | "), answerText(row), row.seconds == null ? "–" : `${row.seconds.toFixed(1)} s`];
    return make("tr", { class: row.excluded ? "off" : "" }, ...cells.map((cell) => make("td", {}, String(cell))), make("td", {}, ...change));
  });
  const head = ["Question", "Rater", "Shown", "Said", "Time", "Change"].map((name) => make("th", { scope: "col" }, name));
  parts.history.replaceChildren(scrollable("Answers", make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...lines))));
}

// Redrawn only when something is new, so that nobody loses the place on the page.
async function look() {
  const study = await admin("GET", "overview");
  const now = JSON.stringify(study);
  if (now === seen) return;
  const focused = document.activeElement?.getAttribute?.("aria-label");
  seen = now;
  drawHead(study);
  drawBest(study);
  drawState(study);
  drawValidation(study);
  drawRaters(study);
  drawHistory(await admin("GET", "history"));
  if (study.best) {
    for (const part of [parts.beliefs, parts.convergence]) if (!part.children.length) part.replaceChildren(make("p", { class: "soft" }, "It is being worked out."));
    drawBeliefs(await admin("GET", "slices"));
    drawConvergence(await admin("GET", "convergence"));
  } else {
    parts.beliefs.replaceChildren(make("p", { class: "soft" }, "Nothing yet."));
    drawConvergence([]);
  }
  if (focused && document.activeElement === document.body) desk.querySelector(`[aria-label="${CSS.escape(focused)}"]`)?.focus();
}

async function watch() {
  try {
    if (!document.hidden && !document.querySelector("dialog[open]")) await look();
    if (notice.dataset.lost) notice.textContent = notice.dataset.lost = "";
  } catch (error) {
    notice.dataset.lost = "yes";
    notice.textContent = error.status === 401 ? "This link has ended: the server was started again and has told a new one." : "No connection to the server.";
    if (error.status === 401) return;
  }
  setTimeout(watch, EVERY);
}

layout();
watch();
