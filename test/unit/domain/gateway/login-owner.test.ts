import { expect, test } from 'vitest';
import {
  idOfUse,
  type LoginOwner,
  ownerName,
  ownerOf,
  parseOwner,
} from '../../../../src/domain/gateway/login-owner.ts';

const subject = { issuer: 'https://a.example', sub: 'alice' };
const OWNERS: readonly (readonly [LoginOwner, string])[] = [
  [{ kind: 'local' }, 'local'],
  [{ kind: 'token', name: 'alice' }, 'alice'],
  [{ kind: 'token', name: 'subject' }, 'subject'],
  [{ kind: 'subject', ...subject }, 'oauth:alice'],
  [{ kind: 'subject', issuer: 'https://b.example', sub: 'alice' }, 'oauth:alice'],
  [{ kind: 'subject', issuer: 'https://a.example","alice', sub: '' }, 'oauth:'],
];

test('a caller is the user of this machine, the owner of a token, or a subject of its issuer', () => {
  expect(ownerOf({ caller: 'local' })).toEqual({ kind: 'local' });
  expect(ownerOf({ caller: 'alice' })).toEqual({ kind: 'token', name: 'alice' });
  expect(ownerOf({ caller: 'oauth:the-name-in-another-claim', subject })).toEqual({ kind: 'subject', ...subject });
  expect(ownerOf({ caller: 'oauth:alice' })).toBeUndefined();
});

test('no two owners have the same ID, and none that of shared logins', () => {
  const ids = OWNERS.map(([owner]) => idOfUse(owner));
  expect(new Set([...ids, idOfUse('shared')]).size).toBe(OWNERS.length + 1);
});

test.each(OWNERS)('%j is read from its JSON, and named for people', (owner, name) => {
  expect(parseOwner(JSON.parse(JSON.stringify(owner)))).toEqual(owner);
  expect(ownerName(owner)).toBe(name);
});

test.each([undefined, null, 'local', {}, { kind: 'other' }, { kind: 'token' }, { kind: 'subject', sub: 'a' }])(
  '%j is no owner',
  (value) => {
    expect(parseOwner(value)).toBeUndefined();
  },
);
