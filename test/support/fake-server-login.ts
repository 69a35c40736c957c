import type { ServerLogin } from '../../src/application/ports/tool-server.ts';
import { loginCommand } from '../../src/domain/gateway/tool-call-error.ts';

/** The login of a server in memory. It is required until the test signs in. */
export class FakeServerLogin implements ServerLogin {
  required: string | undefined;
  refusal: string | undefined;
  readonly listeners = new Set<() => void>();

  constructor(server: string) {
    this.required = `requires a login; sign in with: ${loginCommand(server)}`;
  }

  /** A person signs in, and the listeners are notified. */
  signIn(): void {
    this.required = undefined;
    this.notify();
  }

  notify(): void {
    for (const listener of this.listeners) listener();
  }

  onChanged(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
