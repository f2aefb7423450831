// The document that is open: its entities and suggestions, changed here at once and saved in the background, in order.

import { Refusal, ask } from "./api.js";
import { apply } from "./edits.js";
import { Text, keyOf } from "./text.js";

const RETRY = 1500; // milliseconds until an unanswered request is sent again

export class Session {
  #queue = []; // of {path, body}: not saved yet
  #sending = false;
  #number; // of the last new entity

  // onChange: entities, suggestions or what is possible changed. onStatus: "saved", "saving", or a message for people.
  // onConflict: with the document as it is on disk.
  constructor(answer, { onChange, onStatus, onConflict }) {
    this.id = answer.id;
    this.text = new Text(answer.text, answer.lines);
    this.suggestions = [];
    this.on = { onChange, onStatus, onConflict };
    this.conflict = null;
    this.#take(answer);
  }

  #take(answer) {
    this.version = answer.version;
    this.entities = answer.entities;
    this.rejected = new Set(answer.rejected.map(keyOf));
    this.#takeFlags(answer);
    this.#number = Math.max(answer.next_number - 1, this.#number ?? 0);
  }

  #takeFlags({ done, can_undo, can_redo }) {
    this.done = done;
    this.canUndo = can_undo;
    this.canRedo = can_redo;
  }

  newId = () => `T${++this.#number}`;

  get isSaved() {
    return this.#queue.length === 0;
  }

  // Suggestions that are neither taken nor rejected.
  get open() {
    const taken = new Set(this.entities.map(keyOf));
    return this.suggestions.filter((one) => !taken.has(one.key) && !this.rejected.has(one.key));
  }

  isSuggested = (entity) => this.suggestions.some(({ key }) => key === keyOf(entity));

  useSuggestions(suggestions) {
    this.suggestions = suggestions.map((one) => ({ ...one, key: keyOf(one), note: "" }));
    this.on.onChange();
  }

  // Changes the entities; null is no change.
  edit(change, kind = "edit") {
    if (!change || this.conflict) return false;
    change = { ...change, add: change.add.map((entity) => ({ ...entity, id: entity.id ?? this.newId() })) };
    this.entities = apply(this.entities, change);
    for (const one of change.reject) this.rejected.add(keyOf(one));
    for (const one of change.restore) this.rejected.delete(keyOf(one));
    this.canUndo = true;
    this.canRedo = false;
    this.on.onChange();
    this.#send("/v1/change", { ...change, kind });
    return true;
  }

  undo() {
    if (this.canUndo) this.#send("/v1/undo", {});
  }

  redo() {
    if (this.canRedo) this.#send("/v1/redo", {});
  }

  mark(done) {
    this.done = done;
    this.on.onChange();
    this.#send("/v1/done", { done });
  }

  #send(path, body) {
    this.#queue.push({ path, body });
    this.on.onStatus("saving");
    this.#work();
  }

  // Resolves when all is saved, or cannot be.
  async settled() {
    while (this.#queue.length && !this.conflict) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  async #work() {
    if (this.#sending) return;
    this.#sending = true;
    while (this.#queue.length && !this.conflict) {
      const { path, body } = this.#queue[0];
      try {
        const answer = await ask(path, { body: { ...body, id: this.id, version: this.version } });
        this.#queue.shift();
        this.#answered(path, answer);
      } catch (error) {
        if (!(await this.#failed(error))) break;
      }
    }
    this.#sending = false;
  }

  #answered(path, answer) {
    this.version = answer.version;
    if (this.#queue.length === 0) {
      if (path === "/v1/change" && sameEntities(this.entities, answer.entities)) this.#takeFlags(answer);
      else this.#take(answer);
      this.on.onStatus(answer.removed_lines ? removedLines(answer.removed_lines) : "saved");
      this.on.onChange();
    } else if (path !== "/v1/change") {
      // What was changed since then was changed in another state: the server has the right one.
      this.entities = this.#queue.reduce((now, { body }) => (body.add ? apply(now, body) : now), answer.entities);
      this.on.onChange();
    }
  }

  // Whether to go on.
  async #failed(error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.status === 0 || error.status >= 500) {
      this.on.onStatus(`Not saved yet: ${error.message}`);
      await new Promise((resolve) => setTimeout(resolve, RETRY));
      return true;
    }
    if (error.status === 409) {
      this.conflict = error.answer.document;
      this.on.onStatus("Not saved: the document changed.");
      this.on.onConflict(this.conflict);
      return false;
    }
    const now = await ask(`/v1/document?id=${encodeURIComponent(this.id)}`).catch(() => null);
    this.on.onStatus(now ? error.message : `Not saved: ${error.message}`);
    if (!now) return false; // it is sent again with the next change
    this.#queue.shift();
    this.#take(now);
    this.on.onChange();
    return true;
  }

  // Goes on from what is on disk; offer: gives the change to make to it, or null.
  resolve(offer) {
    const answer = this.conflict;
    this.conflict = null;
    this.#queue = [];
    this.#take(answer);
    this.on.onStatus("saved");
    this.on.onChange();
    const change = offer();
    if (change && (change.add.length || change.remove.length)) this.edit(change, "resolve");
  }
}

function removedLines(n) {
  return `Saved. ${n} line${n === 1 ? "" : "s"} about it (relations, attributes, notes) went with it; undo brings ${n === 1 ? "it" : "them"} back.`;
}

function sameEntities(one, other) {
  if (one.length !== other.length) return false;
  return one.every((entity, place) => {
    const twin = other[place];
    return entity.id === twin.id && entity.note === twin.note && keyOf(entity) === keyOf(twin);
  });
}
