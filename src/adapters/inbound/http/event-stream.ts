import type { ServerResponse } from 'node:http';
import type { Clock } from '../../../application/ports/clock.ts';

const KEEP_ALIVE_MS = 15_000;

/** Server-sent events, a message each (MCP, Streamable HTTP). No event has an id: nothing can be resumed. */
export class EventStream {
  readonly #response: ServerResponse;

  /** Writes the headers at once, and a comment every 15 seconds until `over` aborts. */
  constructor(response: ServerResponse, clock: Clock, over: AbortSignal) {
    this.#response = response;
    response.writeHead(200, {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-cache, no-transform',
      // nginx would keep the events back until there are many.
      'X-Accel-Buffering': 'no',
    });
    response.flushHeaders();
    void this.#keepAlive(clock, over);
  }

  /** To a reader that does not keep up nothing is told but the answer, so that memory stays bounded. */
  notify(json: string): void {
    if (!this.#response.writableNeedDrain) this.#response.write(toEvent(json));
  }

  end(json: string): void {
    this.#response.end(toEvent(json));
  }

  async #keepAlive(clock: Clock, over: AbortSignal): Promise<void> {
    while ((await clock.sleep(KEEP_ALIVE_MS, over)) === 'elapsed') {
      if (!this.#response.writableNeedDrain) this.#response.write(': keepalive\n\n');
    }
  }
}

/** JSON has no line breaks of its own, so that an event is one line of data. */
function toEvent(json: string): string {
  return `event: message\ndata: ${json}\n\n`;
}
