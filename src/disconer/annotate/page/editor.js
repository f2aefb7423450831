// What keys, buttons and the pointer do to the open document: the selection, the chosen marks, and all edits of them.

import { Cursor } from "./cursor.js";
import * as edits from "./edits.js";
import { inText, nearest, smallestAround } from "./order.js";
import { idOf } from "./view.js";

export class Editor {
  // labels: the project's. onShow: called when something to show changed. room: gives top and bottom of what is seen.
  constructor(view, labels, { onShow, room }) {
    Object.assign(this, { view, labels, onShow, room });
    this.session = null;
    this.cursor = null;
    this.chosen = []; // ids of marks, in the order in which they were chosen
    this.fragment = null; // number of the fragment that grows and shrinks; null: the first or the last
    this.addTo = null; // id of an entity that + adds fragments to
    this.keepPins = false; // whether the next selection by the pointer adds to what was put aside
    this.fresh = true; // nothing was selected by hand yet
  }

  open(session, saved) {
    this.session = session;
    this.view.open(session.text);
    this.cursor = new Cursor(session.text, saved);
    this.fresh = !saved;
    this.#forget();
    this.show();
  }

  // Brings the page up to date after the session changed.
  show() {
    const { session, view } = this;
    this.labels.include([...session.entities, ...session.suggestions].map(({ label }) => label));
    this.marks = [...session.entities, ...session.open];
    view.show(session.entities, session.open, this.labels.classOf);
    const known = new Set(this.marks.map(idOf));
    this.chosen = this.chosen.filter((id) => known.has(id));
    this.showSelection();
  }

  showSelection() {
    const { view, cursor } = this;
    view.choose(this.chosen);
    view.light("cursor", cursor.range && !this.chosen.length ? [cursor.range] : []);
    view.light("pinned", cursor.pinned);
    this.onShow();
  }

  #forget() {
    this.chosen = [];
    this.fragment = null;
    this.addTo = null;
  }

  #reveal(range = this.cursor.range) {
    if (range) this.view.reveal(range, ...this.room());
  }

  // The chosen entities and suggestions.
  get entities() {
    return this.#chosenOf(this.session.entities);
  }

  get suggestions() {
    return this.#chosenOf(this.session.open);
  }

  #chosenOf(marks) {
    const byId = new Map(marks.map((mark) => [idOf(mark), mark]));
    return this.chosen.map((id) => byId.get(id)).filter(Boolean);
  }

  // Selecting words.

  move(step, extend) {
    this.#moved(() => this.cursor.move(step, extend));
  }

  nudge(step, atStart) {
    this.#moved(() => this.cursor.nudge(step, atStart));
  }

  goTo(word, extend) {
    this.#moved(() => this.cursor.goTo(word, extend));
  }

  line(step, extend) {
    this.goTo(this.#wordBeside(step), extend);
  }

  // The word above or below, as the browser sets lines.
  #wordBeside(step) {
    const { text } = this.session;
    const [node, within] = this.view.place(this.cursor.focus[0]);
    const selection = getSelection();
    selection.collapse(node, within);
    selection.modify("move", step > 0 ? "forward" : "backward", "line");
    const offset = selection.focusNode && this.view.offset(selection.focusNode, selection.focusOffset);
    selection.removeAllRanges();
    const word = offset === null ? null : text.wordAt(offset);
    if (word && word[0] !== this.cursor.focus[0]) return word;
    const line = text.lineAt(this.cursor.focus[0]) + step;
    return text.lines[line] ? text.wordAt(text.lines[line][0]) : null;
  }

  edge(step, extend) {
    const words = this.session.text.words(this.session.text.lineAt(this.cursor.focus[0]));
    this.goTo(words[step > 0 ? words.length - 1 : 0], extend);
  }

  #moved(move) {
    this.fresh = false;
    if (this.addTo === null) this.chosen = [];
    this.fragment = null;
    move();
    this.#reveal();
    this.showSelection();
  }

  // A selection by the pointer. adding: with Ctrl or ⌘.
  pointed(from, to, { adding, exactly }) {
    const [entity] = this.entities;
    const target = adding || this.addTo !== null ? entity : null;
    if (!target && (adding || this.keepPins) && !this.fresh) this.cursor.pin();
    else if (!this.keepPins) this.cursor.clear();
    this.keepPins = false;
    this.fresh = false;
    const { text } = this.session;
    const isSelected = this.cursor.drag(...(from === to ? (text.wordAt(from) ?? [from, to]) : [from, to]), exactly);
    if (target && isSelected) return this.#addTo(target);
    this.#forget();
    this.showSelection();
  }

  // A selection by the handles of a touch screen, which may still move.
  touched(from, to) {
    if (!this.keepPins) this.cursor.clear();
    this.fresh = false;
    if (this.addTo === null) this.chosen = [];
    if (this.cursor.drag(from, to, false)) this.showSelection();
  }

  #addTo(entity) {
    this.session.edit(edits.addFragments(entity, this.cursor.fragments, this.session.text));
    this.cursor.finish();
    this.addTo = null;
    this.showSelection();
  }

  // Puts the selection aside, or lets the next one be added to the chosen entity.
  pin() {
    const [entity] = this.entities;
    if (entity && !this.cursor.pinned.length) this.addTo = idOf(entity);
    else this.cursor.pin();
    this.keepPins = true;
    this.fresh = false;
    this.showSelection();
  }

  escape() {
    this.cursor.clear();
    this.keepPins = false;
    this.#forget();
    this.showSelection();
  }

  // Choosing marks.

  choose(ids) {
    this.#forget();
    this.chosen = ids;
    const mark = this.marks.find((one) => idOf(one) === ids[ids.length - 1]);
    if (mark) {
      this.cursor.select(mark.fragments[0]);
      this.#reveal(mark.fragments[0]);
    }
    this.showSelection();
  }

  toggle(id) {
    const others = this.chosen.filter((one) => one !== id);
    this.choose(others.length < this.chosen.length ? others : [...this.chosen, id]);
  }

  // The next or previous mark in the text; also: beside those that are chosen.
  step(step, also) {
    const sorted = [...this.marks].sort(inText);
    const current = this.chosen[this.chosen.length - 1];
    let place = sorted.findIndex((mark) => idOf(mark) === current) + step;
    if (current === undefined) place = nearest(sorted, this.cursor.range, step);
    const found = sorted[place];
    if (found) this.choose(also ? [...new Set([...this.chosen, idOf(found)])] : [idOf(found)]);
  }

  nextFragment() {
    const [entity] = this.entities;
    if (!entity) return;
    this.fragment = ((this.fragment ?? -1) + 1) % entity.fragments.length;
    this.view.light("pinned", [entity.fragments[this.fragment]]);
  }

  // Edits.

  label(name) {
    this.labels.last = name;
    const { session, cursor } = this;
    if (this.addTo !== null && this.entities.length) return this.#addTo(this.entities[0]);
    if (this.entities.length) return session.edit(edits.relabel(this.entities, name));
    if (this.suggestions.length) return this.#acceptAs(name);
    const id = session.newId();
    const isMade = session.edit(edits.make(cursor.fragments, name, id, session.text));
    cursor.finish();
    this.keepPins = false;
    this.#forget();
    if (isMade) this.chosen = [id];
    this.showSelection();
  }

  enter() {
    if (this.suggestions.length) return this.accept();
    if (this.addTo !== null && this.entities.length) return this.#addTo(this.entities[0]);
    if (!this.entities.length && this.labels.last) this.label(this.labels.last);
  }

  edgeOf(side, outward, byCharacter) {
    const [entity] = this.entities;
    if (!entity) return;
    const { text } = this.session;
    const place = this.fragment ?? (side === "start" ? 0 : entity.fragments.length - 1);
    const step = byCharacter ? edits.byCharacter(text) : edits.byWord(text);
    this.session.edit(edits.moveEdge(entity, place, side, outward, step, text));
  }

  // Splits the chosen entity at its gaps, or cuts the selection out of the entity around it.
  split() {
    const { session, cursor } = this;
    const [entity] = this.entities;
    if (entity) return session.edit(edits.split(entity, session.newId));
    const around = smallestAround(session.entities, ...cursor.range);
    if (around && session.edit(edits.cut(around, cursor.range, session.text))) this.choose([idOf(around)]);
  }

  // Whether the selection is a part of an entity, which can be cut out of it.
  get canCut() {
    const { range } = this.cursor;
    const around = range && !this.fresh && smallestAround(this.session.entities, ...range);
    return Boolean(around && edits.cut(around, range, this.session.text));
  }

  join() {
    const [first] = this.entities;
    if (this.session.edit(edits.join(this.entities, this.session.text))) this.choose([idOf(first)]);
  }

  remove() {
    if (this.suggestions.length) return this.reject();
    if (this.entities.length) this.session.edit(edits.remove(this.entities, this.session.isSuggested));
  }

  note(text) {
    const [entity] = this.entities;
    if (entity) this.session.edit(edits.note(entity, text.trim().replace(/\s+/g, " "), this.session.newId));
  }

  accept() {
    this.#decide(() => this.session.edit(edits.accept(this.suggestions, this.session.newId), "accept"));
  }

  #acceptAs(label) {
    const [suggestion] = this.suggestions;
    this.#decide(() => this.session.edit(edits.acceptAs(suggestion, label, this.session.newId), "accept"));
  }

  reject() {
    this.#decide(() => this.session.edit(edits.reject(this.suggestions), "reject"));
  }

  // After a decision, the next suggestion is chosen.
  #decide(decide) {
    const [decided] = this.suggestions;
    if (!decided) return;
    decide();
    const next = [...this.session.open].sort(inText).find((one) => inText(one, decided) > 0);
    if (next) this.choose([idOf(next)]);
    else this.escape();
  }

  acceptFrom(score) {
    const enough = this.session.open.filter((one) => one.score === null || one.score >= score);
    this.session.edit(edits.accept(enough, this.session.newId), "accept");
  }

  rejectRest() {
    this.session.edit(edits.reject(this.session.open), "reject");
  }
}
