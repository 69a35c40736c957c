import { createClient } from '@redis/client';
import { err, ok, type Result } from 'neverthrow';
import { never, untilAborted, withDeadline } from '../../../application/async/deadline.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import type { Admission, QuotaKey, QuotaStore } from '../../../application/ports/quota-store.ts';
import { reasonOf } from '../../../domain/values/certificate-problem.ts';
import { QUOTA_UNITS, type QuotaLimits, type QuotaUse } from '../../../domain/values/quota.ts';

export interface RedisQuotaStoreOptions {
  /** `redis://` or, with TLS, `rediss://`; may contain a user and a password. */
  readonly url: string;
  readonly clock: Clock;
}

/** How long a call waits for the store. */
const LIMIT_MS = 1000;
const LONGEST_RECONNECT_MS = 2000;
/** Pings notice a broken connection even if no call uses it. */
const PING_MS = 10_000;
const SILENT_MS = 30_000;

/** Checks the limits and counts a call in a script, which nothing interrupts. Missing members are false; limits that are not set are empty. */
const ADMIT = `
local used = redis.call('HMGET', KEYS[1], 'calls', 'searches', 'tokens')
local reached = 0
for i = 1, 3 do
  used[i] = tonumber(used[i] or 0)
  if reached == 0 and ARGV[i] ~= '' and used[i] >= tonumber(ARGV[i]) then reached = i end
end
if reached == 0 then
  used[1] = redis.call('HINCRBY', KEYS[1], 'calls', 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
end
return {reached, used[1], used[2], used[3]}`;

const ADD = `
if redis.call('EXISTS', KEYS[1]) == 0 then return {0, 0, 0} end
local used = {}
for i, unit in ipairs({'calls', 'searches', 'tokens'}) do
  used[i] = redis.call('HINCRBY', KEYS[1], unit, ARGV[i])
end
return used`;

/** Counts in Redis or Valkey, which several processes can share. Connects on its own, and again after the connection was lost. */
export class RedisQuotaStore implements QuotaStore {
  readonly #options: RedisQuotaStoreOptions;
  #connection: ReturnType<typeof connect>;

  constructor(options: RedisQuotaStoreOptions) {
    this.#options = options;
    this.#connection = connect(options.url);
  }

  async admit(key: QuotaKey, limits: QuotaLimits): Promise<Result<Admission, string>> {
    const max = QUOTA_UNITS.map((unit) => String(limits[unit] ?? ''));
    const reply = await this.#run(ADMIT, key, [...max, String(Math.ceil(key.keepMs))]);
    return reply.map(([position = 0, ...used]) => ({ used: toUse(used), reached: QUOTA_UNITS[position - 1] }));
  }

  async add(key: QuotaKey, use: QuotaUse): Promise<Result<QuotaUse, string>> {
    const amounts = QUOTA_UNITS.map((unit) => String(use[unit]));
    return (await this.#run(ADD, key, amounts)).map(toUse);
  }

  async close(): Promise<void> {
    this.#connection.client.destroy();
  }

  /** Runs a script for a caller on a day. After the time limit, the store may still run it. */
  async #run(script: string, { date, caller }: QuotaKey, args: readonly string[]): Promise<Result<number[], string>> {
    const connection = this.#connection;
    const command = ['EVAL', script, '1', `openai-responses-mcp:quota:${date}:${caller}`, ...args];
    const { outcome } = await withDeadline(this.#options.clock, LIMIT_MS, never(), (limit) =>
      untilAborted(connection.send(command), limit),
    );
    if (outcome !== 'aborted') return outcome;
    // On this connection, every call would wait for the replies to earlier calls.
    if (connection.client.isReady && this.#connection === connection) {
      connection.client.destroy();
      this.#connection = connect(this.#options.url);
    }
    return err(`no response within ${LIMIT_MS / 1000} s`);
  }
}

/** Starts a connection. `send` waits for the first attempt to connect. */
function connect(url: string) {
  const client = createClient({
    url,
    // Settings that older servers understand, too.
    RESP: 2,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    // Without a connection, a call fails at once.
    disableOfflineQueue: true,
    // The only time limit is the caller's.
    commandOptions: { timeout: 0 },
    pingInterval: PING_MS,
    socket: {
      socketTimeout: SILENT_MS,
      reconnectStrategy: (retries) => Math.min(100 * 2 ** retries, LONGEST_RECONNECT_MS),
    },
  });
  let failure = 'it is not connected';
  const attempted = new Promise<void>((resolve) => {
    client.once('ready', resolve);
    client.on('error', (error: unknown) => {
      failure = reasonOf(error);
      resolve();
    });
  });
  client.connect().catch(() => {});
  const send = async (command: string[]): Promise<Result<number[], string>> => {
    await attempted;
    if (!client.isReady) return err(failure);
    try {
      const reply: unknown = await client.sendCommand(command);
      const isNumbers = Array.isArray(reply) && reply.every((entry) => typeof entry === 'number');
      return isNumbers ? ok(reply) : err('its reply is not a list of numbers');
    } catch (error) {
      return err(reasonOf(error));
    }
  };
  return { client, send };
}

function toUse([calls = 0, searches = 0, tokens = 0]: readonly number[]): QuotaUse {
  return { calls, searches, tokens };
}
