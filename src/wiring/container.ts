import 'reflect-metadata';
import { instanceCachingFactory, container as root } from 'tsyringe';

/** What may have to be ended with the process. */
type Service = object & { readonly close?: () => Promise<void> };

/** Holds services, each of which is made when it is first needed, and ends them all. */
export class Container {
  readonly #container = root.createChildContainer();
  readonly #made = new Set<Promise<Service>>();

  /** Registers a service, and returns what gets it. If it cannot be made, the next use tries again. */
  register<T extends Service>(make: () => Promise<T>): () => Promise<T> {
    const token = Symbol('service');
    const useFactory = () => {
      const making = make();
      this.#made.add(making);
      making.catch(() => {
        this.#made.delete(making);
        registerNew();
      });
      return making;
    };
    const registerNew = () => this.#container.register(token, { useFactory: instanceCachingFactory(useFactory) });
    registerNew();
    return () => this.#container.resolve<Promise<T>>(token);
  }

  /** Ends everything that was made, or is being made. */
  async close(): Promise<void> {
    await Promise.all([...this.#made].map((making) => making.then((service) => service.close?.()).catch(() => {})));
    await this.#container.dispose();
  }
}
