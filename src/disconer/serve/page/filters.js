// Filters entities by label and score.

const N_COLOURS = 8; // as in drawing.css

export class Filters {
  #labels = [];
  #left = new Set(); // labels that are switched off
  #chips = new Map(); // label -> {box, count, chip}

  constructor({ fieldset, slider, shown, onChange }) {
    this.fieldset = fieldset;
    this.slider = slider;
    this.onChange = onChange;
    slider.addEventListener("input", () => {
      shown.value = Number(slider.value).toFixed(2);
      onChange();
    });
  }

  colour(label) {
    return `c${Math.max(this.#labels.indexOf(label), 0) % N_COLOURS}`;
  }

  useLabels(labels) {
    this.#labels = labels;
    this.#left.clear();
    this.#chips.clear();
    const chips = labels.map((label) => this.#chip(label));
    const all = link("all", () => this.#setAll(true));
    const none = link("none", () => this.#setAll(false));
    this.fieldset.replaceChildren(this.fieldset.querySelector("legend"), ...chips, all, none);
  }

  #chip(label) {
    const chip = document.createElement("label");
    const box = document.createElement("input");
    const name = document.createElement("span");
    const count = document.createElement("b");
    box.type = "checkbox";
    box.checked = true;
    name.className = "name";
    name.textContent = label;
    chip.className = `chip none ${this.colour(label)}`;
    chip.append(box, name, count);
    box.addEventListener("change", () => {
      if (box.checked) this.#left.delete(label);
      else this.#left.add(label);
      this.onChange();
    });
    this.#chips.set(label, { box, count, chip });
    return chip;
  }

  #setAll(wanted) {
    this.#left = new Set(wanted ? [] : this.#labels);
    for (const { box } of this.#chips.values()) box.checked = wanted;
    this.onChange();
  }

  // The number of entities of each label, shown or not.
  showCounts(entities) {
    const counts = new Map();
    for (const { label } of entities) counts.set(label, (counts.get(label) ?? 0) + 1);
    for (const [label, { count, chip }] of this.#chips) {
      count.textContent = counts.get(label) ?? "";
      chip.classList.toggle("none", !counts.has(label));
    }
  }

  wanted(entities) {
    const least = Number(this.slider.value);
    return entities.filter(({ label, score }) => !this.#left.has(label) && (score === null || score >= least));
  }
}

function link(text, onClick) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "link";
  button.textContent = text;
  button.addEventListener("click", onClick);
  return button;
}
