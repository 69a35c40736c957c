import { SdkHttpError } from '@modelcontextprotocol/client';
import { isObject, type JsonObject, parseJson } from '../../../domain/values/json.ts';

/** The body of a response that made a transport fail. */
export function textOf(thrown: unknown): string {
  const text = thrown instanceof SdkHttpError && isObject(thrown.data) ? thrown.data.text : undefined;
  return typeof text === 'string' ? text : '';
}

/** The JSON object in that body. */
export function bodyOf(thrown: unknown): JsonObject | undefined {
  const body = parseJson(textOf(thrown));
  return isObject(body) ? body : undefined;
}
