import { err, ok } from 'neverthrow';
import type { JsonObject } from '../../src/domain/values/json.ts';
import type { FakeToolServer } from './fake-tool-server.ts';
import { ScriptedToolServer } from './scripted-tool-server.ts';

/** What a server shares beside its tools: the URIs of resources, their templates, and the names of prompts. */
export interface Shared {
  readonly resources?: readonly string[];
  readonly templates?: readonly string[];
  readonly prompts?: readonly string[];
  readonly completions?: readonly string[];
}

/** A ToolServer in memory with resources and prompts. It records the requests, with the name of the server that it has in a test. */
export class SharingServer extends ScriptedToolServer {
  readonly requests: (readonly [method: string, params: JsonObject])[] = [];
  /** What it shares now. */
  shared: Shared;
  /** Answers in place of the server. */
  replies: Record<string, FakeToolServer['respond']> = {};

  constructor(shared: Shared, ...connects: readonly string[]) {
    super({}, ...connects);
    this.shared = shared;
    const { resources, templates, prompts, completions } = shared;
    this.capabilities = {
      ...((resources ?? templates) && { resources: {} }),
      ...(prompts && { prompts: {} }),
      ...(completions && { completions: {} }),
    };
    this.respond = async (method, params, signal) => {
      this.requests.push([method, params]);
      return this.replies[method]?.(method, params, signal) ?? this.#answer(method, params);
    };
  }

  /** The methods of the requests so far. */
  get methods(): readonly string[] {
    return this.requests.map(([method]) => method);
  }

  #answer(method: string, params: JsonObject) {
    const { resources = [], templates = [], prompts = [], completions = [] } = this.shared;
    const of = this.name;
    switch (method) {
      case 'resources/list':
        return ok({ resources: resources.map((uri) => ({ uri, name: 'same', description: `Of ${of}.` })) });
      case 'resources/templates/list':
        return ok({ resourceTemplates: templates.map((uriTemplate) => ({ uriTemplate, name: 'template' })) });
      case 'prompts/list':
        return ok({ prompts: prompts.map((name) => ({ name, title: `${name} of ${of}` })) });
      case 'resources/read':
        return ok({ contents: [{ uri: params.uri, text: `${of}: ${params.uri}` }] });
      case 'prompts/get':
        return ok({ description: `${of}: ${JSON.stringify(params)}`, messages: [] });
      case 'completion/complete':
        return ok({ completion: { values: completions } });
      default:
        return err({ kind: 'json_rpc' as const, code: -32601, message: 'Method not found' });
    }
  }
}
