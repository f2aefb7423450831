// Training on what is done: the button, and how it is going.

import { ask } from "./api.js";

const PAUSE = 1500; // milliseconds between two checks

export class Training {
  #running = false;

  constructor({ train, stop, bar, text, nDone, onNewModel }) {
    Object.assign(this, { train, stop, bar, text, nDone, onNewModel });
    train.addEventListener("click", () => this.#ask("/v1/training", { body: {} }));
    stop.addEventListener("click", () => this.#ask("/v1/training/stop", { body: {} }));
  }

  async #ask(path, options) {
    try {
      this.#show(await ask(path, options));
    } catch (error) {
      this.text.textContent = error.message;
    }
  }

  look() {
    return this.#ask("/v1/training");
  }

  update() {
    const n = this.nDone();
    this.train.textContent = `Train on ${n} done document${n === 1 ? "" : "s"}`;
    this.train.disabled = this.#running || n < 2;
  }

  #show(status) {
    const was = this.#running;
    this.#running = ["preparing", "running", "measuring"].includes(status.state);
    this.stop.hidden = this.bar.hidden = !this.#running;
    this.bar.max = status.epochs || 1;
    this.bar.value = status.epoch;
    this.text.textContent = sentence(status);
    this.update();
    if (this.#running) setTimeout(() => this.look(), PAUSE);
    else if (was && status.takes_over) this.onNewModel();
  }
}

function sentence({ state, message, n_train, n_dev, epoch, epochs, dev_f1, old_f1, new_f1, takes_over }) {
  const best = dev_f1.length ? `, best F1 ${Math.max(...dev_f1).toFixed(1)}` : "";
  const on = `on ${n_train} documents, measured on ${n_dev}`;
  if (state === "preparing") return "Preparing the data …";
  if (state === "running") return `Training ${on}: epoch ${epoch} of at most ${epochs}${best}`;
  if (state === "measuring") return "Measuring both models …";
  if (state === "failed") return `The training failed. ${message}`;
  if (state !== "finished") return message;
  const old = old_f1 === null ? "there was no previous model" : `the previous model: ${old_f1.toFixed(1)}`;
  const stays = old_f1 === null ? "It found nothing: annotate more documents." : "The previous model stays in use.";
  const end = takes_over ? "It suggests from now on." : stays;
  return `New model: F1 ${new_f1.toFixed(1)} on ${n_dev} documents; ${old}. ${end}`;
}
