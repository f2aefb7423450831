// Work of which only the latest matters: starting it again cancels what is running.

export class Latest {
  #controller = null;
  #timer = null;

  // Debounce: runs work(signal) after some milliseconds, unless it is started again before.
  start(work, delay = 0) {
    this.stop();
    const controller = (this.#controller = new AbortController());
    this.#timer = setTimeout(async () => {
      try {
        await work(controller.signal);
      } catch (error) {
        if (error.name !== "AbortError") throw error;
      }
    }, delay);
  }

  stop() {
    clearTimeout(this.#timer);
    this.#controller?.abort();
  }
}
