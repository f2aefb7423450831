// What is selected in the text: a range of whole words that keys and the pointer move, and fragments put aside for an
// entity with gaps.

export class Cursor {
  constructor(text, saved = null) {
    this.text = text;
    this.pinned = saved?.pinned ?? []; // fragments put aside with +
    const first = text.lines.length ? text.wordAt(0) : null;
    this.anchor = saved?.anchor ?? first; // where it began: a word
    this.focus = saved?.focus ?? first; // the word that moves
    this.directed = false; // whether Shift and an arrow move the focus, or whichever end they point to
  }

  get range() {
    if (!this.anchor) return null;
    return [Math.min(this.anchor[0], this.focus[0]), Math.max(this.anchor[1], this.focus[1])];
  }

  // All that an entity would be made of.
  get fragments() {
    return this.range ? [...this.pinned, this.range] : [...this.pinned];
  }

  get saved() {
    return { anchor: this.anchor, focus: this.focus, pinned: this.pinned };
  }

  select([start, end]) {
    this.anchor = this.focus = [start, end];
    this.directed = false;
  }

  // Selects from one place to another, in whole words, or exactly.
  drag(from, to, exactly) {
    const [start, end] = [Math.min(from, to), Math.max(from, to)];
    const found = exactly ? this.text.trimmed([start, end]) : this.text.snapped([start, end]);
    if (found) this.select(found);
    return Boolean(found);
  }

  // Puts the selection aside, to select more.
  pin() {
    const range = this.range;
    if (!range || this.pinned.some(([start, end]) => start === range[0] && end === range[1])) return;
    this.pinned.push(range);
  }

  clear() {
    this.pinned = [];
  }

  // Ends a selection: what comes next may move either end of it.
  finish() {
    this.pinned = [];
    this.directed = false;
    const range = this.range;
    if (range) this.anchor = this.focus = range;
  }

  // By a word. step: -1 or 1.
  move(step, extend) {
    const range = this.range;
    if (!range) return;
    if (!extend) {
      const word = step > 0 ? this.text.nextWord(range) : this.text.previousWord(range);
      this.select(word ?? (step > 0 ? this.#lastWord(range) : this.#firstWord(range)));
      return;
    }
    if (!this.directed) this.#turn(step);
    const onward = step > 0 ? this.text.nextWord(this.focus) : this.text.previousWord(this.focus);
    if (onward) this.focus = onward;
    this.directed = true;
  }

  // Takes the end that an arrow points to as the one that moves.
  #turn(step) {
    const range = this.range;
    const [first, last] = [this.#firstWord(range), this.#lastWord(range)];
    this.anchor = step > 0 ? first : last;
    this.focus = step > 0 ? last : first;
  }

  #firstWord([start, end]) {
    const word = this.text.wordAt(start);
    return [start, Math.min(word?.[1] ?? end, end)];
  }

  #lastWord([start, end]) {
    const word = this.text.wordAt(end - 1);
    return [Math.max(word?.[0] ?? start, start), end];
  }

  // By a character: the end grows or shrinks, or with `atStart` the start.
  nudge(step, atStart) {
    const [start, end] = this.range;
    const moved = atStart ? [start + step, end] : [start, end + step];
    if (moved[0] >= 0 && moved[1] <= this.text.length && moved[0] < moved[1]) this.select(moved);
  }

  // To a word; with extend, the selection reaches to it.
  goTo(word, extend) {
    if (!word) return;
    if (extend) {
      if (!this.directed) this.#turn(word[0] >= this.anchor[0] ? 1 : -1);
      this.focus = word;
      this.directed = true;
    } else this.select(word);
  }
}
