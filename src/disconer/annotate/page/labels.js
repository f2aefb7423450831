// The labels: their colours, their keys, and the buttons that give them.

const N_COLOURS = 8; // as in drawing.css

export class Labels {
  #places = new Map(); // name -> number
  #sheet = new CSSStyleSheet();

  constructor(place, names, onLabel) {
    Object.assign(this, { place, names, onLabel });
    this.all = [];
    this.last = null; // the one that Enter gives
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, this.#sheet];
  }

  use(labels) {
    this.all = [];
    this.#places.clear();
    for (const label of labels) this.#add(label);
    this.last ??= labels[0]?.name ?? null;
    this.#show();
  }

  // Takes in labels that documents have.
  include(names) {
    const new_ = [...new Set(names)].filter((name) => !this.#places.has(name));
    if (!new_.length) return;
    const taken = new Set(this.all.map(({ key }) => key));
    const left = [..."1234567890"].filter((digit) => !taken.has(digit));
    for (const name of new_) this.#add({ name, colour: null, description: "", key: left.shift() ?? null });
    this.#show();
  }

  #add(label) {
    this.#places.set(label.name, this.all.length);
    this.all.push(label);
  }

  classOf = (name) => `l-${this.#places.get(name) ?? 0}`;

  byKey(key) {
    return this.all.find((label) => label.key === key)?.name;
  }

  #show() {
    const rules = this.all.map(({ colour }, number) => `.l-${number} { --c: ${colour ?? `var(--c${number % N_COLOURS})`}; }`);
    this.#sheet.replaceSync(rules.join("\n"));
    const none = "No labels yet: press l to name one, or start with --labels.";
    this.place.replaceChildren(...(this.all.length ? this.all.map((label) => this.#button(label)) : [none]));
    this.names.replaceChildren(...this.all.map(({ name }) => new Option(name, name)));
  }

  #button({ name, description, key }) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = `chip ${this.classOf(name)}`;
    button.title = description;
    button.dataset.label = name;
    if (key) {
      const shown = document.createElement("kbd");
      shown.textContent = key;
      button.append(shown);
    }
    button.append(name);
    button.addEventListener("click", () => this.onLabel(name));
    return button;
  }

  // Shows which labels the chosen entities have.
  press(names) {
    for (const button of this.place.children) button.setAttribute("aria-pressed", names.has(button.dataset.label));
  }
}
