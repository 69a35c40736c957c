import { err, ok, type Result } from 'neverthrow';
import { clip } from '../../domain/values/clean-text.ts';
import { coalesced } from '../async/coalesced.ts';
import { withDeadline } from '../async/deadline.ts';
import { GrowingWait } from '../async/growing-wait.ts';
import type { Clock } from '../ports/clock.ts';
import type { ChangingList, OnListChanged, ServerConnection, ServerEvents, ToolServer } from '../ports/tool-server.ts';
import { MAX_REASON, type ToolList } from './tool-list.ts';

interface StartOptions {
  readonly definition: { readonly name: string; readonly startupTimeoutMs: number };
  readonly server: ToolServer;
  readonly list: ToolList;
  readonly clock: Clock;
  readonly onListChanged?: OnListChanged | undefined;
  /** Called when the list of tools is known. Returns the receiver of the connection's events, none of which is lost before. */
  readonly onStarted: (connection: ServerConnection) => ServerEvents;
}

/** Connects a server, and reads its list of tools. An error is the reason, for people; nothing of the server remains then. */
export async function startServer(options: StartOptions, signal: AbortSignal): Promise<Result<void, string>> {
  const { server, list, clock, onStarted, definition, onListChanged } = options;
  const { name, startupTimeoutMs: timeoutMs } = definition;
  let events: ServerEvents | undefined;
  let hasChanged = false;
  let lostReason: string | undefined;
  const early: ServerEvents = {
    onToolsChanged: () => {
      hasChanged = true;
      events?.onToolsChanged();
    },
    onListChanged: onListChanged && announcements((list) => onListChanged(name, list), clock, signal),
    onLost: (reason, lastLine) => {
      // Before the first call, the line contains no input.
      lostReason = lastLine === undefined ? reason : `${reason}: ${lastLine}`;
      events?.onLost(reason, lastLine);
    },
  };
  const { outcome, isTimedOut } = await withDeadline(clock, timeoutMs, signal, async (limit) => {
    const connected = await server.connect(early, limit);
    hasChanged = false;
    return { connected, listed: await connected.asyncAndThen((connection) => list.read(connection, limit)) };
  });
  const { connected, listed } = outcome;
  const isOver = isTimedOut || signal.aborted;
  if (connected.isOk() && listed.isOk() && !isOver && lostReason === undefined) {
    events = onStarted(connected.value);
    if (hasChanged) events.onToolsChanged();
    return ok(undefined);
  }
  if (connected.isOk()) await connected.value.close();
  if (isOver) return err(`no list of tools within ${timeoutMs / 1000} s (startup_timeout)`);
  return (lostReason === undefined ? listed : err(lostReason)).mapErr((reason) => clip(reason, MAX_REASON));
}

/** Passes on that a list has changed. A server that says so all the time is passed on ever more rarely, and its last notice is not lost. */
function announcements(announce: (list: ChangingList) => void, clock: Clock, signal: AbortSignal) {
  const announcing = (list: ChangingList) => {
    const wait = new GrowingWait(clock);
    return coalesced(async () => {
      announce(list);
      await clock.sleep(wait.next(), signal);
    });
  };
  const byList = { prompts: announcing('prompts'), resources: announcing('resources') };
  return (list: ChangingList) => byList[list]();
}
