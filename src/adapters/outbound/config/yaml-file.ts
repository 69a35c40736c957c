import { existsSync } from 'node:fs';
import type { ConfigProblem } from '../../../application/ports/config.ts';
import { readText } from './files.ts';
import type { Tree } from './tree.ts';

export interface YamlLayer {
  readonly found: boolean;
  readonly tree: Tree;
  readonly problems: readonly ConfigProblem[];
}

/** The parser loads only if there is a file to read. */
export async function readYamlLayer(path: string, isExplicit: boolean): Promise<YamlLayer> {
  if (!isExplicit && !existsSync(path)) return { found: false, tree: {}, problems: [] };
  const where = isExplicit ? `--config ${path}` : path;
  const content = readText(path);
  if ('fault' in content) {
    return {
      found: false,
      tree: {},
      problems: [{ where, accepted: `a YAML file that can be read (${content.fault})` }],
    };
  }
  const [{ parseDocument }, { checkYaml }] = await Promise.all([import('yaml'), import('./yaml-check.ts')]);
  const document = parseDocument(content.text);
  const [syntax] = document.errors;
  if (syntax !== undefined) {
    const first = syntax.message.split('\n')[0]?.replace(/:$/, '') ?? '';
    const said = syntax.code === 'MULTIPLE_DOCS' ? 'it holds more than one document' : first;
    return { found: true, tree: {}, problems: [{ where: path, accepted: `a file in YAML (${said})` }] };
  }
  return { found: true, ...checkYaml(toPlain(document)) };
}

/** Aliases that would grow without bound make the conversion throw; what is then checked is no section. */
function toPlain(document: { toJS(): unknown }): unknown {
  try {
    return document.toJS();
  } catch (error) {
    return String(error);
  }
}
