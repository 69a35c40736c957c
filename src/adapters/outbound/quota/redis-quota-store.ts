import { err, type Result } from 'neverthrow';
import { never, untilAborted, withDeadline } from '../../../application/async/deadline.ts';
import type { Admission, QuotaKey, QuotaStore } from '../../../application/ports/callers.ts';
import type { Services } from '../../../application/ports/services.ts';
import { BoundedMap } from '../../../domain/values/bounded-map.ts';
import { addedUse, NOTHING_USED, QUOTA_UNITS, type QuotaLimits, type QuotaUse } from '../../../domain/values/quota.ts';
import { RedisConnection, type Reply } from './redis-connection.ts';

interface RedisQuotaStoreOptions extends Pick<Services, 'clock'> {
  /** `redis://` or, with TLS, `rediss://`; may contain a user and a password. */
  readonly url: string;
}

/** How long a call waits for the store. */
const LIMIT_MS = 1000;
/** How long a new connection may be silent before another is made, because a firewall may have forgotten it. */
const SILENT_MS = 5000;
/** Maximum number of callers whose use is remembered while the store cannot be used. */
const MAX_UNSENT = 10_000;

/** Checks the limits and counts a call in a script, which nothing interrupts. Missing members are false; limits that are not set are empty. */
const ADMIT = `
local used = redis.call('HMGET', KEYS[1], 'calls', 'searches', 'tokens', 'usd')
local reached = 0
for i = 1, 4 do
  used[i] = tonumber(used[i] or 0)
  if reached == 0 and ARGV[i] ~= '' and used[i] >= tonumber(ARGV[i]) then reached = i end
end
if reached == 0 then
  used[1] = redis.call('HINCRBY', KEYS[1], 'calls', 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[5])
end
return {reached, used[1], used[2], used[3], used[4]}`;

const ADD = `
if redis.call('EXISTS', KEYS[1]) == 0 then return {0, 0, 0, 0} end
local used = {}
for i, unit in ipairs({'calls', 'searches', 'tokens', 'usd'}) do
  used[i] = redis.call('HINCRBY', KEYS[1], unit, ARGV[i])
end
return used`;

/** The command of a script, and what to do if its caller no longer waits for the reply. */
interface Script {
  readonly command: string[];
  /** Gets a reply that came too late, and the connection on which it came. */
  readonly onLate?: (reply: Reply, connection: RedisConnection) => Promise<unknown>;
  /** Called if nothing was sent. */
  readonly onUnsent?: () => void;
}

/**
 * Counts in Redis or Valkey, which several processes can share. A server that hangs runs what was sent to it when it continues: a call that was
 * refused meanwhile is then taken back on the same connection, because after a failover another server counts.
 */
export class RedisQuotaStore implements QuotaStore {
  readonly #options: RedisQuotaStoreOptions;
  #connection: RedisConnection;
  #connectedMs: number;
  readonly #left = new Set<RedisConnection>();
  /** The use that could not be sent. */
  readonly #unsent = new BoundedMap<string, readonly [QuotaKey, QuotaUse]>(MAX_UNSENT);

  constructor(options: RedisQuotaStoreOptions) {
    this.#options = options;
    this.#connection = new RedisConnection(options.url);
    this.#connectedMs = options.clock.elapsedMs();
  }

  async admit(key: QuotaKey, limits: QuotaLimits): Promise<Result<Admission, string>> {
    const max = QUOTA_UNITS.map((unit) => String(limits[unit] ?? ''));
    const command = commandOf(ADMIT, key, [...max, String(Math.ceil(key.keepMs))]);
    const onLate: Script['onLate'] = async (reply, connection) => {
      const isCounted = reply.isOk() && reply.value[0] === 0;
      if (isCounted) await connection.send(addCommand(key, { ...NOTHING_USED, calls: -1 }));
    };
    const reply = await this.#run({ command, onLate });
    return reply.map(([position = 0, ...used]) => ({ used: toUse(used), reached: QUOTA_UNITS[position - 1] }));
  }

  async add(key: QuotaKey, use: QuotaUse): Promise<Result<QuotaUse, string>> {
    const onUnsent = () => {
      const name = nameOf(key);
      const [, before] = this.#unsent.get(name) ?? [key, NOTHING_USED];
      this.#unsent.set(name, [key, addedUse(before, use)]);
    };
    return (await this.#run({ command: addCommand(key, use), onUnsent })).map(toUse);
  }

  async close(): Promise<void> {
    for (const connection of [this.#connection, ...this.#left]) connection.close();
  }

  async #run({ command, onLate, onUnsent }: Script): Promise<Reply> {
    const { clock } = this.#options;
    const connection = this.#usable();
    let sent: Promise<Reply> | undefined;
    const { outcome } = await withDeadline(clock, LIMIT_MS, never(), async (limit) => {
      const opened = await connection.whenOpen(limit);
      if (opened === 'aborted' || opened.isErr()) return opened;
      sent = connection.send(command);
      return untilAborted(sent, limit);
    });
    if (sent === undefined) onUnsent?.();
    else if (outcome === 'aborted')
      this.#leave(connection, onLate === undefined ? sent : sent.then((reply) => onLate(reply, connection)));
    else if (outcome.isOk()) this.#sendUnsent();
    if (outcome === 'aborted') return err(`no response within ${LIMIT_MS / 1000} s`);
    return outcome.map((numbers) => numbers ?? []);
  }

  /** The connection for the next command. */
  #usable(): RedisConnection {
    const connection = this.#connection;
    if (connection.isSilent && this.#options.clock.elapsedMs() - this.#connectedMs > SILENT_MS) {
      connection.close();
      this.#connect();
    }
    return this.#connection;
  }

  /** Replaces a connection, on which every call would wait for the replies to earlier calls. It ends when these have come. */
  #leave(connection: RedisConnection, last: Promise<unknown>): void {
    if (this.#connection === connection) this.#connect();
    this.#left.add(connection);
    void last.then(() => connection.leave()).then(() => this.#left.delete(connection));
  }

  #connect(): void {
    this.#connection = new RedisConnection(this.#options.url);
    this.#connectedMs = this.#options.clock.elapsedMs();
  }

  #sendUnsent(): void {
    const unsent = [...this.#unsent.values()];
    this.#unsent.clear();
    for (const [key, use] of unsent) void this.add(key, use);
  }
}

function nameOf({ date, caller }: QuotaKey): string {
  return `openai-responses-mcp:quota:${date}:${caller}`;
}

function commandOf(script: string, key: QuotaKey, args: readonly string[]): string[] {
  return ['EVAL', script, '1', nameOf(key), ...args];
}

function addCommand(key: QuotaKey, use: QuotaUse): string[] {
  return commandOf(
    ADD,
    key,
    QUOTA_UNITS.map((unit) => String(use[unit])),
  );
}

function toUse([calls = 0, searches = 0, tokens = 0, usd = 0]: readonly number[]): QuotaUse {
  return { calls, searches, tokens, usd };
}
