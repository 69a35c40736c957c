import { createClient } from '@redis/client';
import { err, ok, type Result } from 'neverthrow';
import { untilAborted } from '../../../application/async/deadline.ts';
import { reasonOf } from '../../../domain/values/certificate-problem.ts';

const LONGEST_RECONNECT_MS = 2000;

/** A reply: numbers; or why there are none, for people. */
export type Reply = Result<number[], string>;

/**
 * A connection to Redis or Valkey, which connects again after it was lost. A server that hangs reads what was sent to it when it continues, however
 * late: nothing but a PING is sent before the server has answered, and replies arrive as long as the connection exists.
 */
export class RedisConnection {
  readonly #client: ReturnType<typeof toClient>;
  readonly #waiting = new Set<Promise<Reply>>();
  #failure = 'it is not connected';
  /** Resolves when the server has answered, or when it cannot be connected. */
  #answered: Promise<unknown>;
  #isProven = false;

  constructor(url: string) {
    const client = toClient(url);
    this.#client = client;
    this.#answered = new Promise((resolve) => {
      client.on('ready', () => {
        this.#isProven = false;
        const ping = client.sendCommand(['PING']).then(
          () => {
            this.#isProven = true;
          },
          () => {},
        );
        this.#answered = ping;
        resolve(ping);
      });
      client.on('error', (error: unknown) => {
        this.#failure = reasonOf(error);
        this.#answered = Promise.resolve();
        resolve(undefined);
      });
    });
    client.connect().catch(() => {});
  }

  /** Whether the server accepts connections, but has not answered yet. */
  get isSilent(): boolean {
    return this.#client.isReady && !this.#isProven;
  }

  /** Resolves when a command can be sent; with the reason if it cannot. */
  async whenOpen(signal: AbortSignal): Promise<Result<void, string> | 'aborted'> {
    if ((await untilAborted(this.#answered, signal)) === 'aborted') return 'aborted';
    return this.#client.isReady && this.#isProven ? ok() : err(this.#failure);
  }

  /** Sends a command. Never rejects. */
  send(command: string[]): Promise<Reply> {
    const reply = this.#client.sendCommand(command).then(
      (reply: unknown): Reply => {
        const isNumbers = Array.isArray(reply) && reply.every((entry) => typeof entry === 'number');
        return isNumbers ? ok(reply) : err('its reply is not a list of numbers');
      },
      (error: unknown): Reply => err(reasonOf(error)),
    );
    this.#waiting.add(reply);
    void reply.then(() => this.#waiting.delete(reply));
    return reply;
  }

  /** Ends the connection when each command has its reply, or at once if none can come any more. */
  async leave(): Promise<void> {
    while (this.#waiting.size > 0) await Promise.all(this.#waiting);
    this.close();
  }

  close(): void {
    if (this.#client.isOpen) this.#client.destroy();
  }
}

function toClient(url: string) {
  return createClient({
    url,
    // Settings that older servers understand, too.
    RESP: 2,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    // Without a connection, a call fails at once.
    disableOfflineQueue: true,
    // The only time limit is the caller's. A connection that breaks is noticed by the keepalive of TCP, which a server that hangs still answers.
    commandOptions: { timeout: 0 },
    socket: {
      reconnectStrategy: (retries) => Math.min(100 * 2 ** retries, LONGEST_RECONNECT_MS),
    },
  });
}
