import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from './api-response.ts';

const UNUSED: JsonObject = { name: 'unused' };

/** A response as it was recorded, read without the code under test. */
export interface Recorded {
  readonly body: string;
  readonly isStream: boolean;
  readonly items: readonly JsonObject[];
}

/** The responses from a question to its answer, and what was sent back for their calls. */
export interface Loop {
  readonly name: string;
  readonly responses: readonly Recorded[];
  /** The functions that the requests declared, and one more: a recording may have none. */
  readonly tools: readonly JsonObject[];
  /** By `call_id`. */
  readonly outputs: ReadonlyMap<string, string>;
}

/** One folder may contain several questions. */
export function readLoops(root: string, folder: string): readonly Loop[] {
  const files = readdirSync(join(root, folder)).toSorted();
  const read = (file: string) => readFileSync(join(root, folder, file), 'utf8');
  const requests = files
    .filter((file) => /^\d+-request\.json$/.test(file))
    .map((file) => toObject(JSON.parse(read(file))));
  const inputs = requests.flatMap(({ input }) => toList(input));
  const outputs = new Map(
    inputs
      .filter(({ type }) => type === 'function_call_output')
      .map(({ call_id: id, output }) => [
        String(id),
        // What the tool returned follows the heading of this program, in conversations that it recorded.
        typeof output === 'string'
          ? output.replace(/^\[Output of the tool .*\n(?:.+\n)*\n/, '')
          : JSON.stringify(output),
      ]),
  );
  const responses = files
    .filter((file) => /^\d+-response\.(?:json|sse)$/.test(file))
    .map((file) => toRecorded(read(file), file.endsWith('.sse')))
    .filter(({ items }) => items.length > 0);
  const declared = requests.flatMap((request) => toList(request.tools)).filter(({ type }) => type === 'function');
  // A function may also have been loaded by a search for tools.
  const called = responses.flatMap(callsIn).map(({ name }) => ({ name }));
  const tools = [...new Map([UNUSED, ...called, ...declared].map((tool) => [tool.name, tool])).values()];
  const loops: Recorded[][] = [[]];
  for (const response of responses) {
    loops.at(-1)?.push(response);
    if (callsIn(response).length === 0) loops.push([]);
  }
  return loops
    .filter((loop) => loop.length > 0)
    .map((loop, index) => ({ name: `${folder} ${index + 1}`, responses: loop, tools, outputs }));
}

export function toRecorded(body: string, isStream: boolean): Recorded {
  if (!isStream) return { body, isStream, items: toList(toObject(JSON.parse(body)).output) };
  const events = body
    .split(/\r?\n/)
    .flatMap((line) => (/^data: ?\{/.test(line) ? [toObject(JSON.parse(line.slice(5)))] : []));
  const done = events.filter(({ type }) => type === 'response.output_item.done');
  return { body, isStream, items: done.map(({ item }) => toObject(item)) };
}

export function callsIn({ items }: Recorded): readonly JsonObject[] {
  return items.filter(({ type }) => type === 'function_call');
}

export function toObject(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

export function toList(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.map(toObject) : [];
}
