// Finding words in the open document.

const LIT = 2000; // matches that light up at most

export class Find {
  #matches = [];
  #place = -1;

  constructor({ form, input, found, close, view, onFound, onClose }) {
    Object.assign(this, { form, input, found, view, onFound, onClose });
    input.addEventListener("input", () => this.#search());
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.next(1);
    });
    input.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.close();
      else if (event.key === "Enter" && event.shiftKey) {
        event.preventDefault();
        this.next(-1);
      }
    });
    close.addEventListener("click", () => this.close());
  }

  open() {
    this.form.hidden = false;
    this.input.select();
    this.#search();
  }

  close() {
    this.form.hidden = true;
    this.view.light("found", []);
    this.onClose();
  }

  #search() {
    const wanted = this.input.value.toLowerCase();
    const { text } = this.view;
    const all = text.string.toLowerCase();
    this.#matches = [];
    this.#place = -1;
    // A text whose length changes with its case (İ) is searched as it is.
    const [where, what] = all.length === text.string.length ? [all, wanted] : [text.string, this.input.value];
    for (let at = what ? where.indexOf(what) : -1; at >= 0; at = where.indexOf(what, at + what.length))
      this.#matches.push([text.offset(at), text.offset(at + what.length)]);
    this.view.light("found", this.#matches.slice(0, LIT));
    this.#count();
  }

  next(step) {
    const n = this.#matches.length;
    if (!n) return;
    this.#place = (this.#place + step + n) % n;
    this.#count();
    this.onFound(this.#matches[this.#place]);
  }

  #count() {
    const n = this.#matches.length;
    this.found.textContent = !this.input.value ? "" : this.#place < 0 ? `${n} found` : `${this.#place + 1} of ${n}`;
  }
}
