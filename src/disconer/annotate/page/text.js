// A text as the page works on it: offsets count code points, as in the files; JavaScript's strings count otherwise.

const WORD = /[\p{L}\p{M}]+|\p{N}+|\S/gu; // letters together, digits together, anything else by itself

export class Text {
  #units = null; // where each code point starts in the string; null if that is its own number
  #words = []; // of each line, once they are asked for

  constructor(string, lines) {
    this.string = string;
    this.lines = lines; // [start, end) of each, without line ends
    if (/[\ud800-\udbff][\udc00-\udfff]/.test(string)) this.#units = startsOf(string);
    this.length = this.#units ? this.#units.length - 1 : string.length;
  }

  slice(start, end) {
    return this.string.slice(this.unit(start), this.unit(end));
  }

  // From code points to places in the string, and back.
  unit(offset) {
    return this.#units ? this.#units[offset] : offset;
  }

  offset(unit) {
    return this.#units ? lastAtMost(this.#units, unit) : unit;
  }

  // The number of the line that an offset is in; a line end belongs to the line before it.
  lineAt(offset) {
    let low = 0;
    let high = this.lines.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.lines[middle][0] <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  // The lines that fragments reach from and to, all those between included.
  linesOf(fragments) {
    return [this.lineAt(fragments[0][0]), this.lineAt(fragments[fragments.length - 1][1] - 1)];
  }

  words(line) {
    this.#words[line] ??= this.#findWords(...this.lines[line]);
    return this.#words[line];
  }

  #findWords(start, end) {
    const from = this.unit(start);
    return [...this.slice(start, end).matchAll(WORD)].map((match) => [
      this.offset(from + match.index),
      this.offset(from + match.index + match[0].length),
    ]);
  }

  // The word at an offset, or the one before it on its line, or the next one at all.
  wordAt(offset) {
    const line = this.lineAt(Math.min(offset, this.length));
    const words = this.words(line);
    const here = words.findLast(([start]) => start <= offset) ?? words[0];
    return here ?? this.nextWord([offset, offset]) ?? this.previousWord([offset, offset]);
  }

  nextWord([, end]) {
    for (let line = this.lineAt(end); line < this.lines.length; line++) {
      const found = this.words(line).find(([start]) => start >= end);
      if (found) return found;
    }
    return null;
  }

  previousWord([start]) {
    for (let line = this.lineAt(start); line >= 0; line--) {
      const found = this.words(line).findLast(([, end]) => end <= start);
      if (found) return found;
    }
    return null;
  }

  // A range widened to whole words, without whitespace at its edges; null if nothing is left.
  snapped([start, end]) {
    const first = this.wordAt(start);
    const from = first && first[1] > start ? first[0] : this.nextWord([start, start])?.[0];
    const last = this.wordAt(Math.max(end - 1, start));
    if (from === undefined || !last || last[1] <= from) return null;
    return [from, last[1]];
  }

  // A range without whitespace at its edges; null if nothing is left.
  trimmed([start, end]) {
    const inside = this.slice(start, end);
    const from = start + codePoints(inside.slice(0, inside.length - inside.trimStart().length));
    const to = end - codePoints(inside.slice(inside.trimEnd().length));
    return from < to ? [from, to] : null;
  }

  quoted(fragments) {
    return fragments.map(([start, end]) => this.slice(start, end)).join(" … ");
  }
}

function startsOf(string) {
  const starts = [];
  let unit = 0;
  for (const character of string) {
    starts.push(unit);
    unit += character.length;
  }
  starts.push(unit);
  return Uint32Array.from(starts);
}

function codePoints(string) {
  let n = 0;
  for (const _ of string) n++;
  return n;
}

function lastAtMost(sorted, value) {
  let low = 0;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (sorted[middle] <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

// Sorted, with those joined that touch, overlap or are separated by whitespace only: as everywhere in disconer.
export function normalised(fragments, text) {
  const joined = [];
  for (const [start, end] of [...fragments].sort((one, other) => one[0] - other[0] || one[1] - other[1])) {
    const last = joined[joined.length - 1];
    if (last && (start <= last[1] || !text.slice(last[1], start).trim())) last[1] = Math.max(last[1], end);
    else joined.push([start, end]);
  }
  return joined;
}

const keys = new WeakMap(); // entities are never changed, only replaced

// What makes two entities the same.
export function keyOf(entity) {
  if (!keys.has(entity)) keys.set(entity, `${entity.label}\t${entity.fragments.map((one) => one.join(" ")).join(";")}`);
  return keys.get(entity);
}
