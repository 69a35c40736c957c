/** A gate that opens once. Waits end when it opens. */
export class StartGate {
  isOpen = false;
  readonly opened: Promise<void>;
  #resolve = (): void => {};

  constructor() {
    this.opened = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  open(): void {
    this.isOpen = true;
    this.#resolve();
  }
}
