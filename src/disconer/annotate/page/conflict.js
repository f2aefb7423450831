// Two versions of a document: shown side by side, until the annotator chooses.

import { difference } from "./edits.js";
import { Text, keyOf } from "./text.js";
import { View } from "./view.js";

export class ConflictDialog {
  constructor({ dialog, theirs, yours, buttons, classOf }) {
    Object.assign(this, { dialog, theirs: new View(theirs), yours: new View(yours), classOf, buttons });
    dialog.addEventListener("cancel", (event) => event.preventDefault());
  }

  // Shows the document on disk and the session's own; calls `choose` with what gives the change to make to the one on disk.
  show(onDisk, session, choose) {
    const same = onDisk.text === session.text.string;
    const mine = session.entities;
    const keys = [new Set(onDisk.entities.map(keyOf)), new Set(mine.map(keyOf))];
    const differing = [...onDisk.entities, ...mine].filter((one) => keys.some((set) => !set.has(keyOf(one))));
    drawPart(this.theirs, new Text(onDisk.text, onDisk.lines), onDisk.entities, differing, this.classOf);
    drawPart(this.yours, session.text, mine, differing, this.classOf);
    const own = mine.filter((one) => !keys[0].has(keyOf(one)));
    const both = () => [...onDisk.entities, ...own.map((one) => ({ ...one, id: session.newId() }))];
    const offers = {
      theirs: () => null,
      yours: () => difference(onDisk.entities, mine),
      both: () => difference(onDisk.entities, both()),
    };
    for (const [name, button] of Object.entries(this.buttons)) {
      button.disabled = name !== "theirs" && !same; // what was made for another text has no place in this one
      button.onclick = () => {
        this.dialog.close();
        choose(offers[name]);
      };
    }
    this.dialog.showModal();
  }
}

// Only the lines that differ, or the first ones if none does.
function drawPart(view, text, entities, differing, classOf) {
  const lines = new Set();
  for (const { fragments } of differing) {
    if (fragments[fragments.length - 1][1] > text.length) continue;
    const [first, last] = text.linesOf(fragments);
    for (let line = first; line <= last; line++) lines.add(line);
  }
  view.open(text);
  view.show(entities, [], classOf);
  for (const line of view.root.children) line.hidden = lines.size ? !lines.has(Number(line.dataset.n)) : line.dataset.n > 3;
}
