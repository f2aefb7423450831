// The pointer on the text: dragging selects words, a bar or its label is an entity; Ctrl or ⌘ adds.

import { smallestAround } from "./order.js";
import { idOf } from "./view.js";

export function listen(root, view, editor) {
  let pressed = null; // what the button went down with

  const around = () => {
    const selection = getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return null;
    const from = view.offset(selection.anchorNode, selection.anchorOffset);
    const to = view.offset(selection.focusNode, selection.focusOffset);
    return from === null || to === null || from === to ? null : [from, to];
  };

  root.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    pressed = { adding: event.ctrlKey || event.metaKey, exactly: event.altKey, type: event.pointerType };
    if (pressed.adding) getSelection().removeAllRanges();
  });

  // While dragging, the words that would be selected light up. On touch screens, handles move a selection without
  // anything being pressed on the text.
  document.addEventListener("selectionchange", () => {
    const range = around();
    if (!range) return;
    if (!pressed) return editor.touched(...range);
    const [start, end] = [Math.min(...range), Math.max(...range)];
    const words = pressed.exactly ? [start, end] : view.text.snapped([start, end]);
    view.light("cursor", words ? [words] : []);
  });

  document.addEventListener("pointerup", (event) => {
    const given = pressed;
    pressed = null;
    if (!given || !editor.session) return;
    const range = around();
    if (range) {
      editor.pointed(...range, given);
      if (given.type === "mouse") getSelection().removeAllRanges();
    } else if (root.contains(event.target)) click(event, given);
    root.focus({ preventScroll: true });
  });
  document.addEventListener("pointercancel", () => (pressed = null));

  function click(event, given) {
    const part = event.target.closest("[data-e]");
    if (part && !event.target.classList.contains("t")) {
      if (given.adding) editor.toggle(part.dataset.e);
      else editor.choose([part.dataset.e]);
      return;
    }
    const offset = offsetAt(event.clientX, event.clientY);
    if (offset !== null) editor.pointed(offset, offset, given);
  }

  root.addEventListener("dblclick", (event) => {
    const offset = offsetAt(event.clientX, event.clientY);
    const part = event.target.closest(".t") && offset !== null ? smallestAround(editor.marks, offset, offset + 1) : null;
    getSelection().removeAllRanges();
    if (part) editor.choose([idOf(part)]);
  });

  function offsetAt(x, y) {
    const place = document.caretPositionFromPoint?.(x, y);
    if (place) return view.offset(place.offsetNode, place.offset);
    const range = document.caretRangeFromPoint?.(x, y);
    return range ? view.offset(range.startContainer, range.startOffset) : null;
  }

  // What is copied is what is selected here, not what the browser selected.
  document.addEventListener("copy", (event) => {
    const range = editor.cursor?.range;
    if (!getSelection().isCollapsed || !range || event.target.closest?.("input")) return;
    event.clipboardData.setData("text/plain", view.text.quoted(editor.cursor.fragments));
    event.preventDefault();
  });
}
