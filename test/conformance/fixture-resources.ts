import { err, ok } from 'neverthrow';
import type { SharedMethods } from '../../src/adapters/inbound/mcp/methods.ts';
import { GatewayMethods } from '../../src/adapters/inbound/mcp/shared-methods.ts';
import { Gateway } from '../../src/application/gateway/gateway.ts';
import type { Clock, Logger } from '../../src/application/ports/services.ts';
import { isObject, type JsonObject } from '../../src/domain/values/json.ts';
import type { Redactor } from '../../src/domain/values/redaction.ts';
import { FakeSchemaValidator } from '../support/fake-schema-validator.ts';
import { FakeToolServer } from '../support/fake-tool-server.ts';
import { PNG } from './fixture-tools.ts';

const SERVER = 'suite';
const LISTED: Readonly<Record<string, JsonObject>> = {
  'resources/list': {
    resources: [
      { uri: 'test://static-text', name: 'static-text', mimeType: 'text/plain' },
      { uri: 'test://static-binary', name: 'static-binary', mimeType: 'image/png' },
    ],
  },
  'resources/templates/list': {
    resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' }],
  },
  'prompts/list': {
    prompts: [
      { name: 'test_simple_prompt', description: 'A text.' },
      {
        name: 'test_prompt_with_arguments',
        description: 'Two arguments.',
        arguments: ['arg1', 'arg2'].map((name) => ({ name, required: true })),
      },
      {
        name: 'test_prompt_with_embedded_resource',
        description: 'A resource.',
        arguments: [{ name: 'resourceUri', required: true }],
      },
      { name: 'test_prompt_with_image', description: 'An image.' },
    ],
  },
  'completion/complete': { completion: { values: ['testing'], total: 1, hasMore: false } },
};

/** A server of the gateway with the resources and prompts that the official suite uses. */
function suiteServer(): FakeToolServer {
  const server = new FakeToolServer();
  server.capabilities = { resources: {}, prompts: {}, completions: {} };
  server.respond = async (method, params) => {
    const result = LISTED[method] ?? (method === 'resources/read' ? read(String(params.uri)) : get(params));
    return result === undefined
      ? err({ kind: 'json_rpc', code: -32602, message: 'not found', data: params })
      : ok(result);
  };
  return server;
}

function read(uri: string): JsonObject | undefined {
  const [, id] = /^test:\/\/template\/(.+)\/data$/.exec(uri) ?? [];
  if (uri === 'test://static-text') return { contents: [{ uri, mimeType: 'text/plain', text: 'This is the text.' }] };
  if (uri === 'test://static-binary') return { contents: [{ uri, mimeType: 'image/png', blob: PNG }] };
  return id === undefined
    ? undefined
    : { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify({ id }) }] };
}

function get({ name, arguments: received }: JsonObject): JsonObject | undefined {
  const { arg1, arg2, resourceUri: uri } = isObject(received) ? received : {};
  const contents: Readonly<Record<string, JsonObject>> = {
    test_simple_prompt: { type: 'text', text: 'This is a simple prompt for testing.' },
    test_prompt_with_arguments: { type: 'text', text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` },
    test_prompt_with_embedded_resource: {
      type: 'resource',
      resource: { uri, mimeType: 'text/plain', text: 'Embedded.' },
    },
    test_prompt_with_image: { type: 'image', data: PNG, mimeType: 'image/png' },
  };
  const content = contents[String(name)];
  return content && { messages: [{ role: 'user', content }] };
}

/** The methods of the gateway on this server. The suite does not write the name of the server before those of prompts. */
export function fixtureMethods(options: {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redactor: Redactor;
}) {
  const definition = {
    name: SERVER,
    transport: 'stdio',
    timeoutMs: 10_000,
    startupTimeoutMs: 10_000,
    questionTimeoutMs: 10_000,
    restart: 'never',
    start: 'at_once',
    idleMs: 0,
    isRequired: false,
    filter: {},
    isPublic: false,
    maxConcurrency: 10,
  } as const;
  const gateway = new Gateway({
    ...options,
    validator: async () => new FakeSchemaValidator(),
    servers: [{ definition, server: suiteServer(), fingerprint: SERVER }],
    drainMs: 0,
  });
  const methods = new GatewayMethods({ ...options, gateway: async () => gateway, isSession: false });
  const withServer = (params: JsonObject) =>
    typeof params.name === 'string' ? { ...params, name: `${SERVER}__${params.name}` } : params;
  const shared: SharedMethods = {
    has: (method) => methods.has(method),
    capabilities: (rights) => methods.capabilities(rights),
    call: (call, signal) => {
      const params = withServer(call.params);
      return methods.call(
        { ...call, params: isObject(params.ref) ? { ...params, ref: withServer(params.ref) } : params },
        signal,
      );
    },
  };
  return shared;
}
