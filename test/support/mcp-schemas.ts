import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonObject } from '../../src/domain/values/json.ts';

/** The revisions of MCP with lists and results as this program sends them. */
export const REVISIONS = ['2025-06-18', '2025-11-25', '2026-07-28'] as const;

/** Why a value is not as a definition of a revision of MCP says; an empty list if it is. */
export function schemaErrors(revision: (typeof REVISIONS)[number], definition: string, value: unknown): unknown[] {
  const check = checkOf(revision, definition);
  return check(value) ? [] : [...(check.errors ?? [])];
}

const checks = new Map<string, ReturnType<Ajv['compile']>>();

function checkOf(revision: string, definition: string) {
  const key = `${revision} ${definition}`;
  const known = checks.get(key);
  if (known !== undefined) return known;
  const path = new URL(`../fixtures/schemas/mcp-${revision}.schema.json`, import.meta.url);
  const schema = JSON.parse(readFileSync(path, 'utf8')) as JsonObject;
  const definitions = '$defs' in schema ? '$defs' : 'definitions';
  const options = { strict: false, validateFormats: false };
  const ajv = definitions === '$defs' ? new Ajv2020(options) : new Ajv(options);
  const check = ajv.compile({ ...schema, $ref: `#/${definitions}/${definition}` });
  checks.set(key, check);
  return check;
}
