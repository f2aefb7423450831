// The list of documents: what there is, what is done, which one is open. Only the rows that can be seen are drawn.

import { ask } from "./api.js";

const PAUSE = 1000; // milliseconds between two checks on an order that is being computed
const ROW = 32; // pixels, as in annotate.css
const BEYOND = 8; // rows drawn above and below those that can be seen

export class DocumentList {
  #items = new Map(); // id -> {id, count, done}
  #order = []; // ids
  #shown = []; // ids that pass the filter
  #current = null;

  constructor({ list, filter, order, progress, progressText, onOpen, onLoad }) {
    Object.assign(this, { list, filter, order, progress, progressText, onLoad, rows: list.firstElementChild });
    filter.addEventListener("input", () => this.#filter());
    order.addEventListener("change", () => {
      list.scrollTop = 0;
      this.load();
    });
    list.addEventListener("scroll", () => this.#draw());
    addEventListener("resize", () => this.#draw());
    list.addEventListener("click", (event) => {
      const id = event.target.closest("[data-id]")?.dataset.id;
      if (id !== undefined) onOpen(id);
    });
  }

  async load() {
    const { documents, progress } = await ask(`/v1/documents?order=${this.order.value}`);
    this.#items = new Map(documents.map(([id, count, done]) => [id, { id, count, done }]));
    this.#order = [...this.#items.keys()];
    this.#filter();
    this.#showProgress(progress);
    this.onLoad();
    if (progress !== null) setTimeout(() => this.load(), PAUSE);
  }

  get ids() {
    return this.#order;
  }

  get nDone() {
    return [...this.#items.values()].filter(({ done }) => done).length;
  }

  has(id) {
    return this.#items.has(id);
  }

  place(id) {
    return this.#order.indexOf(id);
  }

  beside(id, step) {
    return this.#order[this.place(id) + step];
  }

  // The next document that is not done.
  nextOpen(id) {
    const after = this.#order.slice(this.place(id) + 1);
    return [...after, ...this.#order].find((other) => other !== id && !this.#items.get(other).done);
  }

  setCurrent(id) {
    this.#current = id;
    const [top, height] = [this.#shown.indexOf(id) * ROW, this.list.clientHeight];
    if (top >= 0 && (top < this.list.scrollTop || top + ROW > this.list.scrollTop + height))
      this.list.scrollTop = top - height / 2;
    this.#draw();
  }

  update(id, values) {
    const item = this.#items.get(id);
    if (!item || (item.count === values.count && item.done === values.done)) return;
    Object.assign(item, values);
    this.#draw();
    this.#showProgress(null);
  }

  #filter() {
    const wanted = this.filter.value.trim().toLowerCase();
    this.#shown = this.#order.filter((id) => id.toLowerCase().includes(wanted));
    this.rows.style.paddingTop = 0;
    this.rows.style.height = `${this.#shown.length * ROW}px`;
    this.#draw();
  }

  #draw() {
    const { scrollTop, clientHeight } = this.list;
    const first = Math.max(Math.floor(scrollTop / ROW) - BEYOND, 0);
    const last = Math.ceil((scrollTop + clientHeight) / ROW) + BEYOND;
    const rows = this.#shown.slice(first, last).map((id) => rowOf(this.#items.get(id), id === this.#current));
    this.rows.style.paddingTop = `${first * ROW}px`;
    this.rows.replaceChildren(...rows);
  }

  #showProgress(ordering) {
    const n = this.#order.length;
    this.progress.max = n;
    this.progress.value = this.nDone;
    const sorting = ordering === null ? "" : ` · ordering ${Math.round(100 * ordering)} %`;
    this.progressText.textContent = `${this.nDone} of ${n} done${sorting}`;
  }
}

function rowOf({ id, count, done }, isCurrent) {
  const row = document.createElement("li");
  const button = document.createElement("button");
  const name = document.createElement("span");
  const number = document.createElement("b");
  button.type = "button";
  button.title = count === null ? "This document cannot be read" : done ? "Done" : "";
  name.textContent = id;
  number.textContent = count === null ? "!" : count || "";
  button.append(name, number);
  row.dataset.id = id;
  row.classList.toggle("done", done);
  if (isCurrent) row.setAttribute("aria-current", "true");
  row.append(button);
  return row;
}
