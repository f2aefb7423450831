// The page: sends the text to the model, filters the response here, and has the service draw it.

import { Refusal, ask, useToken } from "./api.js";
import { confirmOn, copyText } from "./copy.js";
import { EXAMPLES, markExample, showExamples } from "./examples.js";
import { takeFiles, textOf } from "./files.js";
import { Filters } from "./filters.js";
import { Latest } from "./latest.js";
import { linkRows, showRows } from "./table.js";

const TYPING_PAUSE = 200; // milliseconds
const SLIDING_PAUSE = 30;
const BYTES_PER_CHARACTER = 4; // at most, in UTF-8

const at = (id) => document.getElementById(id);
const box = at("text");
const drawing = at("drawing");
const prediction = new Latest();
const redrawing = new Latest();
const filters = new Filters({
  fieldset: at("labels"),
  slider: at("threshold"),
  shown: at("threshold-shown"),
  onChange: () => redrawing.start(redraw, SLIDING_PAUSE),
});

let models = [];
let maxCharacters = Infinity;
let found = { text: "", entities: [], milliseconds: null }; // the last response of the model
let shown = []; // its entities after filtering

async function start() {
  const answer = await attempt(() => ask("/v1/models"));
  if (!answer) return;
  models = answer.models;
  maxCharacters = answer.max_characters;
  at("model").replaceChildren(...models.map(({ name }) => new Option(name, name)));
  at("model-field").hidden = models.length < 2;
  useModel();
}

function useModel() {
  const model = models.find(({ name }) => name === at("model").value);
  filters.useLabels(model.labels);
  predictSoon(0);
}

function setText(text) {
  box.value = text;
  predictSoon(0);
}

function predictSoon(delay = TYPING_PAUSE) {
  const length = Array.from(box.value).length;
  at("length").textContent = length.toLocaleString("en");
  at("text-hint").classList.toggle("over", length > maxCharacters);
  markExample(at("examples"), box.value);
  if (models.length) prediction.start(predict, delay);
}

async function predict(signal) {
  const text = box.value;
  drawing.setAttribute("aria-busy", "true");
  const begin = performance.now();
  const body = { texts: [text], model: at("model").value };
  const answer = await attempt(() => ask("/v1/predict", { body, signal }), () => predictSoon(0));
  if (!answer) return;
  found = { text, entities: answer.documents[0].entities, milliseconds: Math.round(performance.now() - begin) };
  redrawing.start(redraw);
}

// Filters the entities, and updates drawing and table.
async function redraw(signal) {
  const entities = filters.wanted(found.entities).map(asGiven);
  const body = { text: found.text, entities, model: at("model").value };
  const answer = await attempt(() => ask("/v1/render", { body, signal }));
  if (!answer) return;
  shown = answer.entities; // kinds are computed among these
  drawing.innerHTML = answer.content; // escaped by the service; the content policy lets no script run in it
  drawing.removeAttribute("aria-busy");
  filters.showCounts(found.entities);
  showRows(at("rows"), shown, found.text, (label) => filters.colour(label));
  at("no-rows").hidden = shown.length > 0;
  at("status").textContent = summary();
}

const asGiven = ({ label, fragments, id, score }) => ({ label, fragments, id, score });

function summary() {
  if (!found.text) return "";
  const kinds = ["discontinuous", "overlapped", "regular"]
    .map((kind) => [shown.filter((entity) => entity.kind === kind).length, kind])
    .filter(([count]) => count)
    .map(([count, kind]) => `${count} ${kind}`);
  const hidden = found.entities.length - shown.length;
  const parts = [`${shown.length} ${shown.length === 1 ? "entity" : "entities"}`];
  if (kinds.length) parts[0] += ` (${kinds.join(", ")})`;
  if (hidden) parts.push(`${hidden} filtered out`);
  parts.push(`${found.milliseconds} ms`);
  return parts.join(" · ");
}

// Runs something; shows an error, and retries where that may help. Null on failure.
async function attempt(work, again = null) {
  try {
    const result = await work();
    at("error").hidden = true;
    return result;
  } catch (error) {
    if (error.name === "AbortError") throw error;
    drawing.removeAttribute("aria-busy");
    if (error instanceof Refusal && error.status === 401) askForToken();
    else showError(error.message);
    if (again && error.retryAfter) prediction.start(again, 1000 * error.retryAfter);
    return null;
  }
}

function showError(message) {
  at("error").textContent = message;
  at("error").hidden = false;
}

function askForToken() {
  at("token-form").hidden = false;
  at("token").focus();
}

at("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  useToken(at("token").value);
  at("token-form").hidden = true;
  start();
});

async function copyAs(button, text) {
  try {
    await copyText(await text());
    confirmOn(button, "Copied");
  } catch (error) {
    showError(error.message);
  }
}

at("copy-json").addEventListener("click", (event) =>
  copyAs(event.currentTarget, () => JSON.stringify({ text: found.text, entities: shown }, null, 2)),
);
at("copy-brat").addEventListener("click", (event) =>
  copyAs(event.currentTarget, async () => {
    const body = { text: found.text, entities: shown.map(asGiven), format: "brat" };
    return (await ask("/v1/render", { body })).content;
  }),
);

box.addEventListener("input", () => predictSoon());
box.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) predictSoon(0);
});
at("model").addEventListener("change", useModel);
showExamples(at("examples"), setText);
takeFiles({
  button: at("upload"),
  input: at("file"),
  box,
  onFile: async (file) => {
    try {
      setText(await textOf(file, maxCharacters * BYTES_PER_CHARACTER));
    } catch (error) {
      showError(error.message);
    }
  },
});
linkRows(at("rows"), drawing);
if (!box.value) box.value = EXAMPLES[0][1]; // a reload may have kept what was typed
start();
