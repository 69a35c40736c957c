import { isObject, type JsonObject } from './json.ts';
import { decoded } from './web-url.ts';

/** The part of a document to which a reference within it (`#/a/b`) points; undefined for any other reference. */
export function targetOf(ref: string, root: JsonObject): unknown {
  let target: unknown = ref.startsWith('#') ? root : undefined;
  for (const part of ref.split('/').slice(1)) {
    const name = (decoded(part) ?? part).replaceAll('~1', '/').replaceAll('~0', '~');
    target = isObject(target) && Object.hasOwn(target, name) ? target[name] : undefined;
  }
  return target;
}
