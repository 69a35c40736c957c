import type { ConfigProblem } from '../../../application/ports/config.ts';
import { mergePolicy, type PolicyMerge, SYSTEM_POLICY } from '../../../domain/system-policy.ts';
import { readText } from './files.ts';
import { type Tree, valueAt } from './tree.ts';

/** The model's instructions: the built-in policy, or what a policy file makes of it. */
export function readPolicy(tree: Tree): { readonly instructions: string; readonly problems: readonly ConfigProblem[] } {
  const path = valueAt(tree, 'policy.system.path');
  const merge = valueAt(tree, 'policy.system.merge') as PolicyMerge;
  if (valueAt(tree, 'policy.system.source') !== 'file') {
    const needsFile = (key: string, value: unknown) => ({
      where: `policy.system.${key}`,
      value: String(value),
      accepted: 'nothing, unless policy.system.source is file',
    });
    return {
      instructions: SYSTEM_POLICY,
      problems: [
        ...(path === undefined ? [] : [needsFile('path', path)]),
        ...(merge === 'replace' ? [] : [needsFile('merge', merge)]),
      ],
    };
  }
  if (typeof path !== 'string') {
    return {
      instructions: '',
      problems: [
        { where: 'policy.system.path', accepted: 'the path of a policy file, since policy.system.source is file' },
      ],
    };
  }
  const content = readText(path);
  const text = 'text' in content ? content.text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n') : '';
  if (text.trim() === '') {
    const fault = 'fault' in content ? content.fault : 'it is empty';
    return {
      instructions: '',
      problems: [{ where: 'policy.system.path', value: path, accepted: `a policy file that can be read (${fault})` }],
    };
  }
  return { instructions: mergePolicy(text, merge), problems: [] };
}
