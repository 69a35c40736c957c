import { describe, expect, test } from 'vitest';
import { STDIO_SERVER } from '../../support/process-tree.ts';
import { runCli } from '../../support/run-cli.ts';
import { OFFICIAL_CLIENTS } from '../official-clients.ts';
import { configure } from './servers.ts';

const LEFT_OUT =
  'tool right (another one of this name is listed before it), tool not_an_object (its inputSchema does not describe an object), tool (unnamed) (it has no name)';

/** A server whose tools are not as MCP specifies, after one with the ordinary tools. */
const odd = () => configure(['odd'], { last: { args: [STDIO_SERVER, '--tools=odd'] } }).config;

// S77
describe.each(OFFICIAL_CLIENTS)('$name', ({ connect }) => {
  test('lists all tools that can be brought into the form of MCP, and reads all their results', async () => {
    const { client, call } = await connect({ args: ['--offline', '--expose', '--config', odd()] });
    const listed = async () => (await client.listTools()).tools.filter(({ name }) => name.startsWith('odd__'));
    // A first list does not wait long for a server.
    await expect.poll(listed, { timeout: 20_000 }).not.toEqual([]);
    const own = await listed();
    expect(own.map(({ name }) => name.slice(5))).toEqual([
      'right',
      'boolean_property',
      'null_members',
      'no_schema',
      'odd_hints',
      'list_output',
      'unusable_output',
      'other_meta',
      'odd_blocks',
      'no_content',
    ]);
    expect(own[0]).not.toHaveProperty('description', 'Another tool of this name.');
    expect(own.find(({ name }) => name === 'odd__other_meta')).toMatchObject({ _meta: { 'x/y': null } });
    expect(await call('odd__right')).toMatchObject({ content: [{ type: 'text', text: 'right' }] });
    expect(await call('odd__no_content')).toMatchObject({ content: [], structuredContent: { a: null } });
    expect(JSON.stringify(await call('odd__list_output'))).toContain('[1,2]');
    expect(await call('odd__unusable_output')).toMatchObject({ structuredContent: { a: 'x' } });
    const { content } = await call('odd__odd_blocks');
    expect(content).toMatchObject([
      { type: 'text', text: 'plain' },
      { type: 'text', text: 'without a type' },
      { type: 'text', text: 'annotated' },
      { type: 'text', text: expect.stringContaining('[image: not a block of MCP]') },
      { type: 'text', text: expect.stringContaining('https://example.com/v') },
      { type: 'resource_link', uri: 'file:///a', name: 'file:///a' },
      { type: 'resource', resource: { uri: 'file:///a', text: '{"a":1}' } },
    ]);
  });
});

test('the terminal names what is left out', async () => {
  const { stdout, stderr } = await runCli(['tools', '--config', odd()]);
  expect(stdout).toContain(`left out, because MCP does not allow it: ${LEFT_OUT}`);
  expect(stderr).toContain('odd: output schemas that cannot be compiled are left out: unusable_output\n');
});
