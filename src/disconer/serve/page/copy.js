// The clipboard, also where the page is not served over a safe connection.

export async function copyText(text) {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const box = document.createElement("textarea");
  box.value = text;
  document.body.append(box);
  box.select();
  const done = document.execCommand("copy");
  box.remove();
  if (!done) throw new Error("The browser does not let this page copy.");
}

// Says on a button for a moment that something was done.
export function confirmOn(button, word) {
  const name = (button.dataset.name ??= button.textContent);
  button.textContent = word;
  setTimeout(() => (button.textContent = name), 1500);
}
