// What an annotator can do to entities, as functions without side effects: each gives a change, or null if it does
// not apply. A change is {remove, add, notes, reject, restore}; the server keeps it, undoes it and redoes it as one.

import { keyOf, normalised } from "./text.js";

export const nothing = { remove: [], add: [], notes: {}, reject: [], restore: [] };

const bare = ({ id = null, label, fragments }) => ({ id, label, fragments });
const changed = (entity, values) => ({ ...nothing, remove: [bare(entity)], add: [{ ...bare(entity), ...values }] });

export function make(fragments, label, id, text) {
  return fragments.length ? { ...nothing, add: [{ id, label, fragments: normalised(fragments, text) }] } : null;
}

export function relabel(entities, label) {
  const others = entities.filter((entity) => entity.label !== label);
  if (!others.length) return null;
  return { ...nothing, remove: others.map(bare), add: others.map((entity) => ({ ...bare(entity), label })) };
}

export function addFragments(entity, fragments, text) {
  return withFragments(entity, [...entity.fragments, ...fragments], text);
}

function withFragments(entity, fragments, text) {
  const made = normalised(fragments, text);
  return keyOf({ ...entity, fragments: made }) === keyOf(entity) ? null : changed(entity, { fragments: made });
}

// Moves an edge of a fragment. side: "start" or "end"; outward: grows; step: gives the next range to take in, or the
// last one to leave out.
export function moveEdge(entity, place, side, outward, step, text) {
  const fragments = entity.fragments.map((one) => [...one]);
  const fragment = fragments[place];
  const edge = step(fragment, side, outward);
  if (edge === null) return null;
  fragment[side === "start" ? 0 : 1] = edge;
  const left = fragments.filter(([start, end]) => start < end);
  return left.length ? withFragments(entity, left, text) : null;
}

// By a whole word; `step` of `moveEdge`.
export const byWord = (text) => (fragment, side, outward) => {
  const [start, end] = fragment;
  if (outward) return side === "start" ? (text.previousWord(fragment)?.[0] ?? null) : (text.nextWord(fragment)?.[1] ?? null);
  const inside = side === "start" ? text.wordAt(start) : text.wordAt(end - 1);
  if (side === "start") return inside[1] < end ? (text.nextWord(inside)?.[0] ?? end) : end;
  return inside[0] > start ? (text.previousWord(inside)?.[1] ?? start) : start;
};

// By a character.
export const byCharacter = (text) => ([start, end], side, outward) => {
  const edge = (side === "start") === outward ? -1 : 1;
  const moved = (side === "start" ? start : end) + edge;
  return moved < 0 || moved > text.length ? null : moved;
};

// Cuts a range out of an entity, which makes a gap, or a shorter entity.
export function cut(entity, [from, to], text) {
  const left = entity.fragments
    .flatMap(([start, end]) => [[start, Math.min(end, from)], [Math.max(start, to), end]])
    .filter(([start, end]) => start < end)
    .map((one) => text.trimmed(one))
    .filter(Boolean);
  const same = keyOf({ ...entity, fragments: left }) === keyOf(entity);
  return left.length && !same ? changed(entity, { fragments: left }) : null;
}

// An entity of each fragment. newId: gives ids.
export function split(entity, newId) {
  if (entity.fragments.length < 2) return null;
  const [first, ...others] = entity.fragments;
  const rest = others.map((fragment) => ({ id: newId(), label: entity.label, fragments: [fragment] }));
  return { ...nothing, remove: [bare(entity)], add: [{ ...bare(entity), fragments: [first] }, ...rest] };
}

// One entity of all fragments, with the label of the first.
export function join(entities, text) {
  if (entities.length < 2) return null;
  const fragments = normalised(entities.flatMap((entity) => entity.fragments), text);
  return { ...nothing, remove: entities.map(bare), add: [{ ...bare(entities[0]), fragments }] };
}

// What is removed by hand is not to be suggested again.
export function remove(entities, isSuggested) {
  return { ...nothing, remove: entities.map(bare), reject: entities.filter(isSuggested).map(asKey) };
}

// An entity without an id gets one: a note names what it is on.
export function note(entity, text, newId) {
  if (text === entity.note) return null;
  if (entity.id !== null) return { ...nothing, notes: { [entity.id]: text } };
  const id = newId();
  return { ...changed(entity, { id }), notes: { [id]: text } };
}

export function accept(suggestions, newId) {
  if (!suggestions.length) return null;
  return { ...nothing, add: suggestions.map(({ label, fragments }) => ({ id: newId(), label, fragments })) };
}

// With other labels or fragments than suggested: then it is not to be suggested as it was.
export function acceptAs(suggestion, label, newId) {
  const change = { ...nothing, add: [{ id: newId(), label, fragments: suggestion.fragments }] };
  return label === suggestion.label ? change : { ...change, reject: [asKey(suggestion)] };
}

export function reject(suggestions) {
  return suggestions.length ? { ...nothing, reject: suggestions.map(asKey) } : null;
}

// From one state of the entities to another, as one change.
export function difference(from, to) {
  const whole = (entity) => `${entity.id}\t${keyOf(entity)}`;
  const old = new Set(from.map(whole));
  const wanted = new Set(to.map(whole));
  return {
    ...nothing,
    remove: from.filter((entity) => !wanted.has(whole(entity))).map(bare),
    add: to.filter((entity) => !old.has(whole(entity))).map(bare),
    notes: Object.fromEntries(to.filter(({ id, note }) => id && note).map(({ id, note }) => [id, note])),
  };
}

export const asKey = ({ label, fragments }) => ({ label, fragments });

// The entities after a change.
export function apply(entities, change) {
  const added = new Map(change.add.map((entity) => [entity.id, entity]));
  const kept = [];
  for (const entity of entities) {
    const gone = change.remove.some((one) => one.id === entity.id && keyOf(one) === keyOf(entity));
    if (!gone) kept.push(entity);
    else if (entity.id !== null && added.has(entity.id)) {
      kept.push({ ...entity, ...added.get(entity.id) });
      added.delete(entity.id);
    }
  }
  kept.push(...[...added.values()].map((entity) => ({ note: "", ...entity })));
  return kept.map((entity) => (entity.id in change.notes ? { ...entity, note: change.notes[entity.id] } : entity));
}
