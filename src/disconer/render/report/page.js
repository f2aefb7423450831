// Shows wrong sentences, a few at a time, by error class, label and kind.
(() => {
  const PER_PAGE = 25;
  const at = (id) => document.getElementById(id);
  const facts = JSON.parse(at("facts").textContent);
  const chunks = document.querySelectorAll("script.chunk");
  const chunkSize = Number(at("sentences").dataset.chunk);
  const selects = [at("error"), at("label"), at("kind")];
  const read = new Map();
  let chosen = [], first = 0;

  const article = (number) => {
    const chunk = Math.floor(number / chunkSize);
    if (!read.has(chunk)) read.set(chunk, JSON.parse(chunks[chunk].textContent));
    return read.get(chunk)[number % chunkSize];
  };

  // A sentence is chosen if one of its errors has all that is asked for.
  const matches = (errors, [error, label, kind]) => errors.some((one) =>
    (error === "" || one[0] === Number(error)) &&
    (label === "" || one[1].includes(Number(label))) &&
    (kind === "" || one[2].includes(Number(kind))));

  const show = () => {
    const last = Math.min(first + PER_PAGE, chosen.length);
    at("sentences").innerHTML = chosen.slice(first, last).map(article).join("\n");
    at("count").textContent = chosen.length
      ? `${(first + 1).toLocaleString("en")} to ${last.toLocaleString("en")} of ${chosen.length.toLocaleString("en")}`
      : "none";
    at("previous").disabled = first === 0;
    at("next").disabled = last === chosen.length;
  };

  const choose = () => {
    const wanted = selects.map((select) => select.value);
    chosen = [...facts.keys()].filter((number) => matches(facts[number], wanted));
    first = 0;
    show();
  };

  const turn = (step) => {
    first = Math.max(0, first + step * PER_PAGE);
    show();
    at("wrong").scrollIntoView();
  };

  selects.forEach((select) => select.addEventListener("change", choose));
  at("previous").addEventListener("click", () => turn(-1));
  at("next").addEventListener("click", () => turn(1));
  document.addEventListener("click", (event) => {
    const cell = event.target.closest("button[data-error]");
    if (!cell) return;
    selects.forEach((select) => (select.value = cell.dataset[select.id] ?? ""));
    choose();
    at("wrong").scrollIntoView();
    at("error").focus();
  });
  choose();
})();
