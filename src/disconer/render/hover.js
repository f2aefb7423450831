// Lights up all parts of an entity while the pointer or the focus is on one of them.
(() => {
  if (window.disconerHover) return;
  window.disconerHover = true;
  let lit = [];

  // On text, all entities that it is a fragment of; on a bar or a label, the one that it belongs to.
  const entitiesAt = (target) => {
    const part = target?.closest?.(".disconer [data-e]");
    if (!part || !target.classList.contains("t")) return part ? [part] : [];
    const around = [];
    for (let one = part; one; one = one.parentElement.closest(".disconer [data-e]"))
      if (one.classList.contains("f")) around.push(one);
    return around;
  };

  const light = (target) => {
    lit.forEach((part) => part.classList.remove("on"));
    lit = entitiesAt(target).flatMap((part) => {
      const all = [...part.closest(".disconer").querySelectorAll(`[data-e="${part.dataset.e}"]`)];
      all.forEach((each) => (each.title ||= all[0].getAttribute("aria-label") ?? ""));
      return all;
    });
    lit.forEach((part) => part.classList.add("on"));
  };

  document.addEventListener("pointerover", (event) => light(event.target));
  document.addEventListener("focusin", (event) => light(event.target));
  document.addEventListener("focusout", (event) => light(event.relatedTarget));
})();
