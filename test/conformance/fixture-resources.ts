import { randomUUID } from 'node:crypto';
import { err, ok } from 'neverthrow';
import { callForClient } from '../../src/adapters/inbound/mcp/client-call.ts';
import type { SharedMethods } from '../../src/adapters/inbound/mcp/methods.ts';
import { GatewayMethods } from '../../src/adapters/inbound/mcp/shared-methods.ts';
import type { ClientCall, Send, ToolReply } from '../../src/adapters/inbound/mcp/tool-set.ts';
import { Gateway } from '../../src/application/gateway/gateway.ts';
import type { Clock, Logger } from '../../src/application/ports/services.ts';
import { OpenCalls } from '../../src/application/tools/open-calls.ts';
import { parseInputRequests } from '../../src/domain/gateway/input-requests.ts';
import { isObject, type JsonObject } from '../../src/domain/values/json.ts';
import type { Redactor } from '../../src/domain/values/redaction.ts';
import { catalogueOf } from '../support/catalogue.ts';
import { FakeSchemaValidator } from '../support/fake-schema-validator.ts';
import { FakeToolServer, fakeTool, textResult } from '../support/fake-tool-server.ts';
import { ASKING_TOOLS, askingPrompt } from './fixture-questions.ts';
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
      { name: 'test_input_required_result_prompt', description: 'A text, after a question.' },
    ],
  },
  'completion/complete': { completion: { values: ['testing'], total: 1, hasMore: false } },
};

/** A server of MCP 2026-07-28 with the resources, prompts and asking tools that the official suite uses. */
function suiteServer(): FakeToolServer {
  const server = new FakeToolServer();
  server.capabilities = { tools: {}, resources: {}, prompts: {}, completions: {} };
  server.asksByResult = true;
  server.tools = Object.keys(ASKING_TOOLS).map((name) => fakeTool(name, { server: SERVER }));
  const given = () => {
    const { declared = {}, retry } = server.last.given.at(-1) ?? {};
    return { declared, ...retry };
  };
  server.answer = async (name) => {
    const outcome = ASKING_TOOLS[name]?.(given()) ?? ok({});
    return outcome.map((raw) => {
      const asks = parseInputRequests(SERVER, raw);
      return asks === undefined ? textResult('state-ok') : { raw, content: [], isError: false, asks };
    });
  };
  server.respond = async (method, params) => {
    if (params.name === 'test_input_required_result_prompt') return askingPrompt(given());
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

/** What the gateway makes of this server. The suite does not write the name of the server before those of tools and prompts. */
export function fixtureGateway(options: {
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
  const openCalls = new OpenCalls({ clock: options.clock, newState: randomUUID, digest: (text) => text });
  const ofMcp = { ...options, catalogue: catalogueOf([gateway], options), openCalls, toolErrors: 'protocol' } as const;
  const call = (asked: ClientCall, notify: Send, signal: AbortSignal): Promise<ToolReply> =>
    callForClient({ server: SERVER, tool: asked.name }, { call: asked, notify }, ofMcp, signal);
  return { shared, openCalls, names: Object.keys(ASKING_TOOLS), call };
}
