import { expect, test } from 'vitest';
import { LOGIN_MESSAGES, notApprovedMessage } from '../../../../../src/adapters/inbound/words/server-messages.ts';
import {
  idleServers,
  toolErrorMessage,
  toolErrorText,
} from '../../../../../src/adapters/inbound/words/tool-error-messages.ts';

const OWN = { program: 'node /srv/build/index.js', options: ' --config /srv/g.yaml' };

test.each([
  [toolErrorMessage({ kind: 'login_required', server: 'tickets' }, OWN), 'login tickets'],
  [notApprovedMessage(['find'], OWN), 'tools --diff'],
  [LOGIN_MESSAGES.none(OWN), 'login <server>'],
  [idleServers(OWN), 'tools --fresh'],
  [toolErrorText({ kind: 'login_required', server: 'tickets' }, OWN), 'login tickets'],
  [toolErrorMessage({ kind: 'tool_changed', server: 'a', tool: 'b', change: 'new' }, OWN), 'tools --lock'],
])('%j names the program and its options so that the command works in any folder', (message, words) => {
  expect(message).toContain(`: node /srv/build/index.js ${words} --config /srv/g.yaml`);
});
