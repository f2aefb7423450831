// The bar at the bottom: what is selected or chosen, and what can be done with it.

const SHOWN = 90; // characters of a selection

export class Dock {
  constructor({ selected, tools, noteForm, note, labels, editor, commands }) {
    Object.assign(this, { selected, tools, noteForm, note, labels, editor, commands });
    this.#listen();
  }

  #listen() {
    this.noteForm.addEventListener("submit", (event) => {
      event.preventDefault();
      this.editor.note(this.note.value);
      this.commands.text();
    });
    this.note.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.commands.text();
    });
  }

  show() {
    const { editor } = this;
    const [entities, suggestions] = [editor.entities, editor.suggestions];
    this.labels.press(new Set([...entities, ...suggestions].map(({ label }) => label)));
    const [entity] = entities;
    this.noteForm.hidden = entities.length !== 1;
    if (entity && document.activeElement !== this.note) this.note.value = entity.note;
    this.selected.replaceChildren(...this.#words(entities, suggestions));
    this.tools.replaceChildren(...this.#buttons(entities, suggestions));
  }

  #words(entities, suggestions) {
    const { editor } = this;
    const { text } = editor.session;
    if (editor.addTo !== null) return [bold("Add a fragment: "), "select words, then Enter."];
    if (entities.length > 1) return [bold(`${entities.length} entities chosen`)];
    const chosen = entities[0] ?? suggestions[0];
    if (chosen) return [bold(`${chosen.label}: `), short(text.quoted(chosen.fragments)), places(chosen.fragments)];
    if (!editor.cursor.range) return [""];
    const fragments = [...editor.cursor.fragments].sort((one, other) => one[0] - other[0]);
    return [short(text.quoted(fragments)), places(fragments)];
  }

  #buttons(entities, suggestions) {
    const { commands } = this;
    if (suggestions.length)
      return [button("Accept", "a", commands.accept, "main"), button("Reject", "r", commands.reject)];
    if (entities.length > 1) return [button("Join", "m", commands.join), button("Delete", "x", commands.remove)];
    if (!entities.length) {
      const all = [button("Add a fragment", "+", commands.pin), button("Other label", "l", commands.label)];
      return this.editor.canCut ? [button("Cut out", "t", commands.split), ...all] : all;
    }
    const all = [
      "Start",
      button("◂", "G", commands.growStart, "", "Start one word earlier"),
      button("▸", "H", commands.shrinkStart, "", "Start one word later"),
      "End",
      button("◂", "h", commands.shrinkEnd, "", "End one word earlier"),
      button("▸", "g", commands.growEnd, "", "End one word later"),
      button("Add a fragment", "+", commands.pin),
    ];
    if (entities[0].fragments.length > 1) all.push(button("Split", "t", commands.split));
    return [...all, button("Other label", "l", commands.label), button("Delete", "x", commands.remove)];
  }
}

const short = (words) => `“${words.length <= SHOWN ? words : `${words.slice(0, SHOWN - 1)}…`}”`;

function bold(words) {
  const made = document.createElement("b");
  made.textContent = words;
  return made;
}

function places(fragments) {
  const made = document.createElement("span");
  made.className = "hint";
  made.textContent = fragments.map(([start, end]) => `${start}–${end}`).join(", ");
  return made;
}

function button(text, key, onClick, className = "", title = "") {
  const made = document.createElement("button");
  const shown = document.createElement("kbd");
  made.type = "button";
  made.className = className;
  if (title) made.title = made.ariaLabel = title;
  shown.textContent = key;
  made.append(shown, text);
  made.addEventListener("click", () => onClick());
  return made;
}
