// The page: puts its parts together, and gives keys their meaning.

import { Refusal, ask, useHeader, useToken } from "./api.js";
import { ConflictDialog } from "./conflict.js";
import { Dock } from "./dock.js";
import { DocumentList } from "./documents.js";
import { Editor } from "./editor.js";
import { Find } from "./find.js";
import { listenToKeys, showKeys } from "./keys.js";
import { Labels } from "./labels.js";
import { listen } from "./pointer.js";
import { Session } from "./session.js";
import { Training } from "./training.js";
import { View } from "./view.js";

const at = (id) => document.getElementById(id);
const on = (id, event, work) => at(id).addEventListener(event, work);

const view = new View(at("text"));
const labels = new Labels(at("labels"), at("label-names"), (name) => commands.give(name));
const editor = new Editor(view, labels, { onShow: showState, room: seen });
let session = null;
let spaceInLabels = " "; // or what stands for it in the files

const commands = {
  left: ({ shiftKey, altKey }) => (altKey ? editor.nudge(-1, shiftKey) : editor.move(-1, shiftKey)),
  right: ({ shiftKey, altKey }) => (altKey ? editor.nudge(1, shiftKey) : editor.move(1, shiftKey)),
  up: ({ shiftKey }) => editor.line(-1, shiftKey),
  down: ({ shiftKey }) => editor.line(1, shiftKey),
  home: ({ shiftKey, ctrlKey }) => (ctrlKey ? editor.goTo(session.text.wordAt(0), shiftKey) : editor.edge(-1, shiftKey)),
  end: ({ shiftKey, ctrlKey }) =>
    ctrlKey ? editor.goTo(session.text.wordAt(session.text.length), shiftKey) : editor.edge(1, shiftKey),
  pin: () => editor.pin(),
  escape: () => editor.escape(),
  enter: () => (labels.last || editor.chosen.length ? editor.enter() : commands.label()),
  give: (name) => editor.label(name),
  nextMark: () => editor.step(1),
  previousMark: () => editor.step(-1),
  alsoNext: () => editor.step(1, true),
  alsoPrevious: () => editor.step(-1, true),
  growEnd: (event) => editor.edgeOf("end", true, event?.altKey),
  growStart: (event) => editor.edgeOf("start", true, event?.altKey),
  shrinkEnd: (event) => editor.edgeOf("end", false, event?.altKey),
  shrinkStart: (event) => editor.edgeOf("start", false, event?.altKey),
  nextFragment: () => editor.nextFragment(),
  split: () => editor.split(),
  join: () => editor.join(),
  remove: () => editor.remove(),
  accept: () => editor.accept(),
  reject: () => editor.reject(),
  acceptRest: () => editor.acceptFrom(0),
  rejectRest: () => editor.rejectRest(),
  undo: () => session.undo(),
  redo: () => session.redo(),
  next: () => openBeside(1),
  previous: () => openBeside(-1),
  done: () => setDone(!session.done, true),
  find: () => find.open(),
  help: () => at("help-dialog").showModal(),
  menu: () => toggleMenu(),
  label: () => showForm("label-form", "label-name"),
  note: () => editor.entities.length === 1 && at("note").focus(),
  text: () => at("text").focus({ preventScroll: true }),
};

const dock = new Dock({
  selected: at("selected"),
  tools: at("tools"),
  noteForm: at("note-form"),
  note: at("note"),
  labels,
  editor,
  commands,
});
const list = new DocumentList({
  list: at("list"),
  filter: at("filter"),
  order: at("order"),
  progress: at("progress"),
  progressText: at("progress-text"),
  onOpen: (id) => {
    toggleMenu(false);
    open(id);
  },
  onLoad: () => showTitle(),
});
const training = new Training({
  train: at("train"),
  stop: at("stop"),
  bar: at("epochs"),
  text: at("training-text"),
  nDone: () => list.nDone,
  onNewModel: () => attempt(start),
});
const find = new Find({
  form: at("find-form"),
  input: at("find-text"),
  found: at("found"),
  close: at("find-close"),
  view,
  onFound: (range) => editor.goTo(range),
  onClose: () => commands.text(),
});
const conflicts = new ConflictDialog({
  dialog: at("conflict"),
  theirs: at("theirs"),
  yours: at("yours"),
  buttons: { theirs: at("take-theirs"), yours: at("take-yours"), both: at("take-both") },
  classOf: labels.classOf,
});

// Opening.

async function start() {
  const project = await ask("/v1/project");
  at("name").textContent = project.name;
  document.title = `${project.name} · disconer annotate`;
  useAnnotators(project.annotators);
  labels.use(project.labels);
  spaceInLabels = project.space_in_labels;
  at("suggestions").dataset.model = project.model?.name ?? "";
  await list.load();
  training.look();
  await open(list.has(named()) ? named() : list.ids[0]);
}

// The document that the address names.
const named = () => decodeURIComponent(location.hash.slice(1));

function useAnnotators(names) {
  const select = at("annotator");
  const saved = localStorage.getItem("annotator");
  select.replaceChildren(...names.map((name) => new Option(name, name)));
  select.value = names.includes(saved) ? saved : names[0];
  at("annotator-field").hidden = names.length < 2;
  useHeader("X-Annotator", encodeURIComponent(select.value));
}

async function open(id) {
  if (id === undefined) return;
  await session?.settled();
  const answer = await attempt(() => ask(`/v1/document?id=${encodeURIComponent(id)}`));
  if (!answer) return;
  const opened = new Session(answer, {
    onChange: () => opened === session && editor.show(),
    onStatus: (status) => showStatus(status),
    onConflict: (onDisk) => conflicts.show(onDisk, opened, (offer) => opened.resolve(offer)),
  });
  session = opened;
  find.form.hidden = true;
  editor.open(session, draftOf(id));
  at("empty").hidden = session.text.length > 0;
  list.setCurrent(id);
  history.replaceState(null, "", `#${encodeURIComponent(id)}`);
  showTitle();
  scrollTo(0, 0);
  showStatus("saved");
  commands.text();
  const found = await attempt(() => ask(`/v1/suggestions?id=${encodeURIComponent(id)}`));
  if (found && session === opened) session.useSuggestions(found.suggestions);
}

function showTitle() {
  if (!session) return;
  const position = document.createElement("span");
  position.className = "hint";
  position.textContent = `${list.place(session.id) + 1} of ${list.ids.length}`;
  at("title").replaceChildren(session.id, position);
}

const openBeside = (step) => open(list.beside(session.id, step));

async function setDone(done, andNext) {
  session.mark(done);
  if (!done || !andNext) return;
  const next = list.nextOpen(session.id);
  if (next !== undefined) await open(next);
}

// What was selected when the page was left, to go on after a reload.
function draftOf(id) {
  const draft = JSON.parse(sessionStorage.getItem("draft") ?? "null");
  return draft?.id === id ? draft.cursor : null;
}

// Showing.

function showState() {
  dock.show();
  at("undo").disabled = !session.canUndo;
  at("redo").disabled = !session.canRedo;
  at("done").setAttribute("aria-pressed", session.done);
  at("done").textContent = session.done ? "✓ Done" : "Done";
  list.update(session.id, { count: session.entities.length, done: session.done });
  training.update();
  showSuggestions();
  sessionStorage.setItem("draft", JSON.stringify({ id: session.id, cursor: editor.cursor.saved }));
}

function showSuggestions() {
  const { open: left } = session;
  const bar = at("suggestions");
  bar.hidden = !left.length;
  const scored = left.filter(({ score }) => score !== null);
  const by = scored.length && bar.dataset.model ? ` by ${bar.dataset.model}` : "";
  at("suggestions-text").textContent = `${left.length} suggestion${left.length === 1 ? "" : "s"}${by}`;
  at("above-field").hidden = !scored.length;
}

function showStatus(status) {
  at("status").textContent = { saved: "Saved", saving: "Saving …" }[status] ?? status;
  at("status").classList.toggle("trouble", status.startsWith("Not saved"));
}

// The top and bottom of what can be seen of the text.
function seen() {
  return [at("top").getBoundingClientRect().bottom, at("dock").getBoundingClientRect().top];
}

function showForm(form, field) {
  at(form).hidden = false;
  at(field).value = "";
  at(field).focus();
}

function toggleMenu(shown = at("menu").getAttribute("aria-expanded") !== "true") {
  at("menu").setAttribute("aria-expanded", shown);
  document.body.classList.toggle("menu", shown);
}

// Runs something; shows an error. Null on failure.
async function attempt(work) {
  try {
    const result = await work();
    at("error").hidden = true;
    return result;
  } catch (error) {
    if (error instanceof Refusal && error.status === 401) {
      at("token-form").hidden = false;
      at("token").focus();
    } else {
      at("error").textContent = error.message;
      at("error").hidden = false;
    }
    return null;
  }
}

// Listening.

listenToKeys(labels, commands, () => session !== null);
for (const name of ["previous", "next", "undo", "redo", "find", "help", "menu", "done"]) on(name, "click", commands[name]);
on("accept-above", "click", () => editor.acceptFrom(Number(at("above").value)));
on("accept-rest", "click", commands.acceptRest);
on("reject-rest", "click", commands.rejectRest);
on("annotator", "change", async () => {
  localStorage.setItem("annotator", at("annotator").value);
  await session?.settled();
  attempt(start);
});
on("label-form", "submit", (event) => {
  event.preventDefault();
  const name = at("label-name").value.trim().replace(/\s+/g, spaceInLabels);
  at("label-form").hidden = true;
  commands.text();
  labels.include([name]);
  commands.give(name);
});
on("label-name", "keydown", (event) => {
  if (event.key !== "Escape") return;
  at("label-form").hidden = true;
  commands.text();
});
on("token-form", "submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("token", at("token").value);
  useToken(at("token").value);
  at("token-form").hidden = true;
  attempt(start);
});

// A file that was changed by another program is shown as it is now, if nothing is waiting to be saved.
addEventListener("focus", async () => {
  if (!session?.isSaved || session.conflict) return;
  const asked = session;
  const answer = await attempt(() => ask(`/v1/version?id=${encodeURIComponent(asked.id)}`));
  if (answer && session === asked && asked.isSaved && answer.version !== asked.version) open(asked.id);
});
addEventListener("hashchange", () => list.has(named()) && open(named()));
addEventListener("beforeunload", (event) => {
  if (session && !session.isSaved) event.preventDefault();
});

listen(at("text"), view, editor);
showKeys(at("keys"));
if (sessionStorage.getItem("token")) useToken(sessionStorage.getItem("token"));
attempt(start);
