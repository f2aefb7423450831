// The list of documents: what there is, what is done, which one is open.

import { ask } from "./api.js";

const PAUSE = 1000; // milliseconds between two looks at an order that is being computed

export class DocumentList {
  #items = new Map(); // id -> {id, count, done, element}
  #order = []; // ids
  #current = null;

  constructor({ list, filter, order, progress, progressText, onOpen }) {
    Object.assign(this, { list, filter, order, progress, progressText, onOpen });
    filter.addEventListener("input", () => this.#filter());
    order.addEventListener("change", () => this.load());
    list.addEventListener("click", (event) => {
      const id = event.target.closest("[data-id]")?.dataset.id;
      if (id !== undefined) onOpen(id);
    });
  }

  async load() {
    const { documents, progress } = await ask(`/v1/documents?order=${this.order.value}`);
    this.#order = documents.map(([id]) => id);
    const known = this.#items;
    this.#items = new Map(
      documents.map(([id, count, done]) => {
        const element = known.get(id)?.element ?? itemElement(id);
        const item = { id, count, done, element };
        showItem(item);
        return [id, item];
      }),
    );
    this.list.replaceChildren(...[...this.#items.values()].map(({ element }) => element));
    this.#mark();
    this.#filter();
    this.#showProgress(progress);
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
    this.#mark();
  }

  update(id, values) {
    const item = this.#items.get(id);
    if (!item || (item.count === values.count && item.done === values.done)) return;
    Object.assign(item, values);
    showItem(item);
    this.#showProgress(null);
  }

  #mark() {
    this.list.querySelector("[aria-current]")?.removeAttribute("aria-current");
    const element = this.#items.get(this.#current)?.element;
    element?.setAttribute("aria-current", "true");
    if (element && this.list.offsetParent) scrollInto(this.list, element);
  }

  #filter() {
    const wanted = this.filter.value.trim().toLowerCase();
    for (const { id, element } of this.#items.values()) element.hidden = !id.toLowerCase().includes(wanted);
  }

  #showProgress(ordering) {
    const n = this.#order.length;
    this.progress.max = n;
    this.progress.value = this.nDone;
    const sorting = ordering === null ? "" : ` · ordering ${Math.round(100 * ordering)} %`;
    this.progressText.textContent = `${this.nDone} of ${n} done${sorting}`;
  }
}

function scrollInto(list, element) {
  const [outer, inner] = [list.getBoundingClientRect(), element.getBoundingClientRect()];
  if (inner.top < outer.top || inner.bottom > outer.bottom) list.scrollTop += inner.top - outer.top - outer.height / 2;
}

function itemElement(id) {
  const element = document.createElement("li");
  const button = document.createElement("button");
  const name = document.createElement("span");
  const count = document.createElement("b");
  button.type = "button";
  name.textContent = id;
  button.append(name, count);
  element.dataset.id = id;
  element.append(button);
  return element;
}

function showItem({ element, count, done }) {
  element.classList.toggle("done", done);
  element.querySelector("b").textContent = count === null ? "!" : count || "";
  element.firstChild.title = count === null ? "This document cannot be read" : done ? "Done" : "";
}
