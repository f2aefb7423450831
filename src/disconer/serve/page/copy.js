// The clipboard, also without HTTPS.

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
  if (!done) throw new Error("The browser does not allow this page to copy.");
}

// Briefly shows on a button that something was done.
export function confirmOn(button, word) {
  const name = (button.dataset.name ??= button.textContent);
  button.textContent = word;
  setTimeout(() => (button.textContent = name), 1500);
}
