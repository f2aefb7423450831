// All keys: what they are for, for people, and which command they give.

// [heading, [[keys as shown, what they do, {key: command}], …]]
const KEYS = [
  [
    "Select",
    [
      ["← →", "the word before, the next word", { ArrowLeft: "left", ArrowRight: "right" }],
      ["↑ ↓", "the line above, below", { ArrowUp: "up", ArrowDown: "down" }],
      ["Home End", "first, last word of the line", { Home: "home", End: "end" }],
      ["Shift + these", "select more words, at either end", {}],
      ["Alt + ← →", "end one character earlier, later; with Shift: the start", {}],
      ["+", "put this fragment aside and select another: an entity with a gap", { "+": "pin", "=": "pin" }],
      ["Esc", "clear the selection", { Escape: "escape" }],
      ["/", "find in this document", { "/": "find" }],
    ],
  ],
  [
    "Suggestions",
    [
      ["a r", "accept, reject", { a: "accept", r: "reject" }],
      ["A R", "accept, reject the rest of the document", { A: "acceptRest", R: "rejectRest" }],
    ],
  ],
  [
    "Document",
    [
      ["u U", "undo, redo (also Ctrl+Z, Ctrl+Y)", { u: "undo", U: "redo" }],
      ["n p", "next, previous document", { n: "next", p: "previous" }],
      ["d", "mark as done, and go to the next that is not", { d: "done" }],
      ["q", "show the documents, on small screens", { q: "menu" }],
      ["?", "this help", { "?": "help" }],
    ],
  ],
  [
    "Entities",
    [
      ["1 … 9, 0", "make an entity with this label; change the label of the chosen one", {}],
      ["Enter", "make one with the last label; accept a suggestion", { Enter: "enter" }],
      ["l", "any label, by its name", { l: "label" }],
      ["j k", "choose the next, previous entity or suggestion; J K: one more", { j: "nextMark", k: "previousMark", J: "alsoNext", K: "alsoPrevious" }],
      ["g G", "grow at the end, at the start; with Alt: by a character", { g: "growEnd", G: "growStart" }],
      ["h H", "shrink at the end, at the start; with Alt: by a character", { h: "shrinkEnd", H: "shrinkStart" }],
      ["f", "let the next fragment grow and shrink", { f: "nextFragment" }],
      ["t", "split at its gaps; or cut the selected words out of an entity", { t: "split" }],
      ["m", "join the chosen entities", { m: "join" }],
      ["c", "write a note on the chosen entity", { c: "note" }],
      ["x Delete", "delete the chosen entity; reject a suggestion", { x: "remove", Delete: "remove", Backspace: "remove" }],
    ],
  ],
];

const COMMANDS = new Map(KEYS.flatMap(([, rows]) => rows.flatMap(([, , keys]) => Object.entries(keys))));
const WITH_CONTROL = { z: "undo", y: "redo", Z: "redo", Home: "home", End: "end" };
const WITH_ALT = { KeyG: "growEnd", KeyH: "shrinkEnd" }; // by place: with Alt, some systems give another character

function commandOf(event) {
  if (event.ctrlKey || event.metaKey) return WITH_CONTROL[event.key];
  const moved = event.altKey && WITH_ALT[event.code];
  if (moved) return event.shiftKey ? moved.replace("End", "Start") : moved;
  return COMMANDS.get(event.key);
}

// Gives labels and commands to keys, but for those that a field, a button or a dialog needs itself.
export function listenToKeys(labels, commands, isReady) {
  document.addEventListener("keydown", (event) => {
    const { target } = event;
    const isBusy = target.closest("input, textarea, select, dialog") || document.querySelector("dialog[open]");
    const presses = target.closest("button") && (event.key === "Enter" || event.key === " ");
    if (!isReady() || isBusy || presses || event.isComposing) return;
    const label = event.ctrlKey || event.metaKey || event.altKey ? undefined : labels.byKey(event.key);
    const command = commandOf(event);
    if (label !== undefined) commands.give(label);
    else if (command) commands[command](event);
    else return;
    event.preventDefault();
  });
}

export function showKeys(place) {
  place.replaceChildren(
    ...KEYS.map(([heading, rows]) => {
      const section = document.createElement("section");
      const title = document.createElement("h3");
      const table = document.createElement("dl");
      title.textContent = heading;
      for (const [keys, text] of rows) table.append(element("dt", keys), element("dd", text));
      section.append(title, table);
      return section;
    }),
  );
}

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}
