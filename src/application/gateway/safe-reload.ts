import type { AccessPolicy } from '../../domain/gateway/access.ts';
import { LOCAL_CALLER } from '../../domain/gateway/call-origin.ts';
import { matchesPattern } from '../../domain/gateway/gateway-tool.ts';
import type { ServerDefinition } from './server-definition.ts';

/** The parts of a configuration that limit callers, and its text. */
interface Limits {
  readonly servers?: readonly Pick<ServerDefinition, 'name' | 'filter'>[];
  readonly access?: AccessPolicy;
  readonly lock?: object;
  readonly text?: string;
}

/** Why a reload must change nothing: the file was cut, or limits are missing, with their names. Undefined if it may be applied. */
export function reloadProblem(before: Limits, after: Limits): 'cut' | readonly string[] | undefined {
  if (isBeginning(after.text, before.text)) return 'cut';
  const missing = removedLimits(before, after);
  return missing.length > 0 ? missing : undefined;
}

/** Whether a text is cut. A cut inside of a character, and a file system after a crash, leave other characters at the end. */
function isBeginning(after = '', before = ''): boolean {
  const text = after.replace(/[\0\uFFFD]+$/, '').trimEnd();
  return text.length < before.trimEnd().length && before.startsWith(text);
}

/**
 * The limits of callers that a reload would remove. If a full disk cuts a file, its beginning is often valid, and would otherwise open
 * everything.
 */
function removedLimits(before: Limits, after: Limits): readonly string[] {
  const sections = [
    ...(before.access !== undefined && after.access === undefined ? ['access'] : []),
    ...(before.access?.[LOCAL_CALLER] && after.access && !after.access[LOCAL_CALLER] ? [`access.${LOCAL_CALLER}`] : []),
    ...(before.lock !== undefined && after.lock === undefined ? ['gateway.lock'] : []),
  ];
  const isDenied = (pattern: string, deny: readonly string[] = []) => deny.some((now) => matchesPattern(pattern, now));
  const rules = (before.servers ?? []).flatMap(({ name, filter }) => {
    const now = after.servers?.find((server) => server.name === name)?.filter;
    if (now === undefined) return [];
    const isOpened = filter.allow !== undefined && now.allow === undefined;
    const allowed = (filter.deny ?? []).filter((pattern) => !isDenied(pattern, now.deny));
    const denies = now.deny === undefined ? [''] : allowed.map((pattern) => ` (${pattern})`);
    return [
      ...(isOpened ? [`tools.allow of ${name}`] : []),
      ...(allowed.length > 0 ? denies.map((entry) => `tools.deny${entry} of ${name}`) : []),
    ];
  });
  return [...sections, ...rules];
}
