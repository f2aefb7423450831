// The entities as rows; hovering over a row highlights its entity in the drawing, and vice versa.

export function showRows(body, entities, text, colour) {
  const characters = Array.from(text); // offsets count code points, JavaScript's strings do not
  body.replaceChildren(
    ...entities.map((entity, number) => {
      const row = document.createElement("tr");
      row.className = colour(entity.label);
      row.dataset.row = number;
      row.append(
        cell(entity.label, "label"),
        textCell(entity, characters),
        kindCell(entity.kind),
        cell(entity.fragments.map(([start, end]) => `${start}–${end}`).join(", "), "places"),
        scoreCell(entity.score),
      );
      return row;
    }),
  );
}

function cell(text, className) {
  const made = document.createElement("td");
  made.className = className;
  made.textContent = text;
  return made;
}

function textCell(entity, characters) {
  const made = cell("", "text");
  entity.fragments.forEach(([start, end], number) => {
    if (number) {
      const gap = document.createElement("i");
      gap.textContent = " … ";
      made.append(gap);
    }
    made.append(characters.slice(start, end).join(""));
  });
  return made;
}

function kindCell(kind) {
  const made = cell("", "");
  const badge = document.createElement("span");
  badge.className = `kind ${kind}`;
  badge.textContent = kind;
  made.append(badge);
  return made;
}

function scoreCell(score) {
  if (score === null) return cell("–", "number");
  const made = cell(score.toFixed(2), "number");
  const bar = document.createElement("span");
  bar.className = "score";
  bar.style.setProperty("--score", score);
  made.append(bar);
  return made;
}

// In the drawing, data-e is the number of an entity; in the table, data-row is.
export function linkRows(body, drawing) {
  const light = (place, name, numbers) => {
    for (const part of place.querySelectorAll(`[data-${name}]`))
      part.classList.toggle("on", numbers.has(part.dataset[name]));
  };
  const rowUnder = (target) => target?.closest?.("[data-row]")?.dataset.row;
  body.addEventListener("pointerover", (event) => light(drawing, "e", new Set([rowUnder(event.target)])));
  body.addEventListener("pointerleave", () => light(drawing, "e", new Set()));

  // drawing.js lights up the drawing; the rows follow.
  const follow = () =>
    requestAnimationFrame(() => {
      const lit = [...drawing.querySelectorAll(".on[data-e]")].map((part) => part.dataset.e);
      light(body, "row", new Set(lit));
    });
  for (const type of ["pointerover", "pointerleave", "focusin", "focusout"]) drawing.addEventListener(type, follow);
}
