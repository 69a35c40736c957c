import { expect, test } from 'vitest';
import { notApprovedMessage } from '../../../../../src/adapters/inbound/words/lock-messages.ts';
import { LOGIN_MESSAGES } from '../../../../../src/adapters/inbound/words/login-messages.ts';
import { idleServers, toolErrorMessage } from '../../../../../src/adapters/inbound/words/tool-error-messages.ts';

const TYPED = ' --config g.yaml';

test.each([
  [toolErrorMessage({ kind: 'login_required', server: 'tickets' }, TYPED), 'login tickets --config g.yaml'],
  [notApprovedMessage(['find'], TYPED), '(see: openai-responses-mcp tools --diff --config g.yaml)'],
  [LOGIN_MESSAGES.none(TYPED), 'login <server> --config g.yaml'],
  [idleServers(TYPED), 'tools --fresh --config g.yaml'],
])('%j repeats the typed options', (message, command) => {
  expect(message.endsWith(command)).toBe(true);
});
