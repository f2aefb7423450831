// Texts from files: chosen with a button, or dropped onto the text box.

export async function textOf(file, maxBytes) {
  if (file.size > maxBytes) throw new Error(`${file.name} is larger than ${maxBytes.toLocaleString("en")} bytes.`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    throw new Error(`${file.name} is not UTF-8 text.`);
  }
}

export function takeFiles({ button, input, box, onFile }) {
  button.addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    if (input.files.length) onFile(input.files[0]);
    input.value = ""; // the same file may be chosen again
  });
  box.addEventListener("dragover", (event) => {
    if (![...event.dataTransfer.types].includes("Files")) return;
    event.preventDefault();
    box.classList.add("dropping");
  });
  box.addEventListener("dragleave", () => box.classList.remove("dropping"));
  box.addEventListener("drop", (event) => {
    box.classList.remove("dropping");
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    onFile(event.dataTransfer.files[0]);
  });
}
