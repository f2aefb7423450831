// The text on the page: lines with their marks, of which only those are drawn again that change; places in it; lights.

import { drawLine } from "./lanes.js";
import { keyOf } from "./text.js";

const CAPTION = 28; // characters of a label that are drawn

export class View {
  #marks = new Map(); // id -> mark
  #byLine = []; // of each line, the marks on it
  #nodes = []; // the element of each line
  #chosen = new Set();

  constructor(root) {
    this.root = root;
    this.text = null;
  }

  // Shows another document.
  open(text) {
    this.text = text;
    this.#marks.clear();
    this.#byLine = text.lines.map(() => new Set());
    this.#chosen.clear();
    this.#nodes = text.lines.map((range, number) => {
      const line = document.createElement("div");
      line.className = "line";
      line.dir = "auto";
      line.dataset.n = number;
      line.append(...drawLine(text, range, []));
      return line;
    });
    this.root.replaceChildren(...this.#nodes);
    this.light("cursor", []);
  }

  // Shows these entities and suggestions; what is as before stays.
  show(entities, suggestions, classOf) {
    const wanted = new Map([...entities, ...suggestions].map((one) => [idOf(one), one]));
    const dirty = new Set();
    for (const [id, mark] of this.#marks)
      if (!isDrawn(mark, wanted.get(id), classOf)) this.#remove(mark, dirty);
    let order = 0;
    for (const [id, one] of wanted) {
      if (!this.#marks.has(id)) this.#add(id, markOf(one, classOf, this.text), dirty);
      this.#marks.get(id).order = order++;
    }
    for (const line of dirty) this.#draw(line);
  }

  #remove(mark, dirty) {
    this.#marks.delete(mark.id);
    this.#eachLine(mark, (line) => this.#byLine[line].delete(mark) && dirty.add(line));
  }

  #add(id, mark, dirty) {
    this.#marks.set(id, mark);
    this.#eachLine(mark, (line) => this.#byLine[line].add(mark) && dirty.add(line));
  }

  #eachLine(mark, work) {
    const [first, last] = this.text.linesOf(mark.fragments);
    for (let line = first; line <= last; line++) work(line);
  }

  #draw(line) {
    const marks = [...this.#byLine[line]].map((mark) =>
      this.#chosen.has(mark.id) ? Object.create(mark, { classes: { value: `${mark.classes} chosen` } }) : mark,
    );
    this.#nodes[line].replaceChildren(...drawLine(this.text, this.text.lines[line], marks));
  }

  // Marks these as chosen.
  choose(ids) {
    const before = this.#chosen;
    this.#chosen = new Set(ids);
    for (const id of new Set([...before, ...ids])) {
      const is = this.#chosen.has(id);
      if (before.has(id) === is || !this.#marks.has(id)) continue;
      for (const part of this.root.querySelectorAll(`[data-e="${CSS.escape(id)}"]`)) part.classList.toggle("chosen", is);
    }
  }

  // The place of an offset in the page. atEnd: where a range ends there, rather than starts.
  place(offset, atEnd = false) {
    const number = this.text.lineAt(atEnd ? Math.max(offset - 1, 0) : offset);
    const [start, end] = this.text.lines[number];
    let left = this.text.unit(Math.min(offset, end)) - this.text.unit(start);
    const walker = document.createTreeWalker(this.#nodes[number], NodeFilter.SHOW_TEXT);
    let node = walker.nextNode();
    while (node && (left > node.length || (left === node.length && !atEnd))) {
      const next = walker.nextNode();
      if (!next) break;
      left -= node.length;
      node = next;
    }
    return node ? [node, Math.min(left, node.length)] : [this.#nodes[number], 0];
  }

  range([start, end]) {
    const range = document.createRange();
    range.setStart(...this.place(start));
    range.setEnd(...this.place(end, true));
    return range;
  }

  // The offset of a place in the page; null if it is not in the text.
  offset(node, within) {
    const line = (node.nodeType === Node.TEXT_NODE ? node.parentElement : node).closest?.("[data-n]");
    if (!line || !this.root.contains(line)) return node === this.root ? this.#childOffset(within) : null;
    const before = document.createRange();
    before.setStart(line, 0);
    before.setEnd(node, within);
    const [start] = this.text.lines[line.dataset.n];
    return this.text.offset(this.text.unit(start) + before.toString().length);
  }

  #childOffset(child) {
    return child < this.text.lines.length ? this.text.lines[child][0] : this.text.length;
  }

  // Lights ranges up under a name: "cursor", "pinned", "found".
  light(name, ranges) {
    if (!CSS.highlights) return;
    if (ranges.length) CSS.highlights.set(name, new Highlight(...ranges.map((one) => this.range(one))));
    else CSS.highlights.delete(name);
  }

  // Scrolls so that a range can be seen, between what is above and below the text.
  reveal(range, top, bottom) {
    const line = this.#nodes[this.text.lineAt(range[0])];
    let box = this.range(range).getBoundingClientRect();
    if (!box.height) {
      line.scrollIntoView({ block: "center" }); // it was not laid out yet
      box = this.range(range).getBoundingClientRect();
    }
    const room = 48;
    if (box.top < top + room / 2) scrollBy(0, box.top - top - room);
    else if (box.bottom > bottom - room) scrollBy(0, box.bottom - bottom + 1.5 * room);
  }
}

export const idOf = (mark) => (mark.key ? `s:${mark.key}` : (mark.id ?? `k:${keyOf(mark)}`));

const shortened = (label) => (label.length <= CAPTION ? label : `${label.slice(0, CAPTION - 1)}…`);

// Whether a mark shows an entity or suggestion as it is.
function isDrawn(mark, wanted, classOf) {
  if (!wanted || mark.colour !== classOf(wanted.label)) return false;
  return mark.of === wanted || (keyOf(mark.of) === keyOf(wanted) && mark.of.note === wanted.note);
}

function markOf(one, classOf, text) {
  const colour = classOf(one.label);
  const source = one.key && (one.by.length ? one.by.join(", ") : one.score.toFixed(2));
  const from = one.key && `, ${one.by.length ? "by" : "score"} ${source}`;
  return {
    id: idOf(one),
    of: one,
    fragments: one.fragments,
    colour,
    classes: one.key ? `suggested ${colour}` : colour,
    caption: `${shortened(one.label)}${one.key ? ` ${source}` : one.note ? " ✎" : ""}`,
    get description() {
      const words = `${one.label}: “${text.quoted(one.fragments)}”`;
      return one.key ? `Suggestion ${words}${from}` : one.note ? `${words}. Note: ${one.note}` : words;
    },
  };
}
