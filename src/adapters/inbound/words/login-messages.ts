import type { LoginProblem } from '../../../application/ports/caller-logins.ts';

/** What the pages on which callers sign in say. */
export const LOGIN_PAGE = {
  otherOrigin: (publicUrl: string) =>
    `Forbidden: only the pages of this server may send this; open the address under ${publicUrl}`,
  notBegun:
    'This sign-in was not begun in this browser, or it has already ended; open the address of the server again to begin another one.',
  noServer: 'There is no server with this name at which you can sign in; check the address.',
  noSubject: 'Forbidden: the access token has no sub, so that it is not known whose login this is',
  failed: (reason: string) => `The sign-in failed: ${reason}; open the address of the server again to try once more.`,
  signedIn: (caller: string, server: string) => `${caller} is signed in to ${server}; you can close this page.`,
  signedOut: (caller: string, server: string) => `The login of ${caller} to ${server} was deleted.`,
  hadNone: (caller: string, server: string) => `${caller} had no login to ${server}.`,
  notDeleted: (reason: string) => `The login was not deleted: ${reason}`,
  notRevoked: (reason: string) => `Its tokens could not be revoked at the issuer: ${reason}`,
};

/** The sentence about a problem of a sign-in. */
export function loginProblem(problem: LoginProblem): string {
  if (problem.kind === 'failed') return LOGIN_PAGE.failed(problem.reason);
  return problem.kind === 'not_begun' ? LOGIN_PAGE.notBegun : LOGIN_PAGE.noServer;
}
