import type { GatewayTool } from '../../src/domain/gateway/gateway-tool.ts';
import type { JsonObject } from '../../src/domain/values/json.ts';

/** A question to `find_tools`, and the tools (`server/tool`) that are right. */
export interface ToolQuestion {
  readonly query: string;
  readonly right: readonly string[];
}

/** The tools of a text in the format that `test/fixtures/tools/servers-1.txt` describes. */
export function toolsIn(text: string): GatewayTool[] {
  const tools: GatewayTool[] = [];
  let [server, shared] = ['', new Map<string, string>()];
  for (const line of text.split('\n')) {
    if (line.startsWith('## ')) [server, shared] = [line.slice(3), new Map()];
    else if (line.startsWith('@')) shared.set(line.split(' ', 1)[0] ?? '', line.slice(line.indexOf(' ') + 1));
    else if (line !== '' && !line.startsWith('#')) {
      const [name = '', title, description = '', ...rest] = line.split('|').map((part) => part.trim());
      const parameters = rest.join('|').split('; ');
      const inputSchema = schemaOf(parameters.flatMap((part) => (shared.get(part) ?? part).split('; ')));
      tools.push({ server, name, ...(title ? { title } : {}), description, inputSchema });
    }
  }
  return tools;
}

/** The questions of a text with a line each: the query, ` | `, and the right tools. */
export function questionsIn(text: string): ToolQuestion[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const [query = '', right = ''] = line.split(' | ');
    return { query, right: right.split(', ') };
  });
}

type Properties = Record<string, JsonObject>;

function schemaOf(parameters: readonly string[]): JsonObject {
  const root: Properties = {};
  for (const parameter of parameters.filter((part) => part !== '')) {
    const [path = '', description = ''] = parameter.split(/: (.*)/);
    const names = path.split('.');
    let properties = root;
    for (const [at, name] of names.entries()) {
      const [key, isList] = [name.replace('[]', ''), name.endsWith('[]')];
      if (at === names.length - 1) properties[key] = { type: 'string', description };
      else {
        const inner = innerOf(properties[key]) ?? {};
        const object = { type: 'object', properties: inner };
        properties[key] = isList ? { type: 'array', items: object } : object;
        properties = inner;
      }
    }
  }
  return { type: 'object', properties: root };
}

function innerOf(schema: JsonObject | undefined): Properties | undefined {
  const object = (schema?.items ?? schema) as { readonly properties?: Properties } | undefined;
  return object?.properties;
}
