import { type Html, html } from '../html.ts';
import { loginPath } from './server-messages.ts';

/** The hidden fields with which a form shows what it does. */
export const FIELDS = { proof: 'proof', action: 'action', remove: 'remove' } as const;

interface Offered {
  /** The issuer at which people sign in; undefined without `http.oauth`. */
  readonly issuer: string | undefined;
  /** Whether callers have tokens that they can type. */
  readonly hasTokens: boolean;
}

/** The page before anybody has proved to be a caller: the same for every name, person and server. */
export function startPage({ issuer, hasTokens }: Offered): string {
  const atIssuer = issuer === undefined ? undefined : issuerForm(issuer);
  return page(
    'Sign in to a server',
    html`<p id="first">First show who you are. Then this page says who signs in, and where.</p>
${atIssuer}${hasTokens ? TOKEN_FORM : undefined}`,
  );
}

const issuerForm = (issuer: string) => html`<form method="post">
  <p><button type="submit" class="primary">Continue at ${issuer}</button></p>
</form>
`;

const TOKEN_FORM = html`<noscript><p class="failure">To enter a token, this page needs JavaScript.</p></noscript>
<form id="token-form" hidden>
  <label for="token">Your token for this server</label>
  <input id="token" type="password" required autocomplete="off" spellcheck="false" aria-describedby="token-hint">
  <p id="token-hint" class="hint">It is forgotten when you close the page.</p>
  <p><button type="submit" class="primary">Use token</button></p>
</form>
<section id="proved" aria-label="Sign-in" hidden>
  <p id="who"></p>
  <p><button type="button" id="sign-in" class="primary">Sign in</button> <button type="button" id="remove" hidden>Delete this login</button></p>
</section>
<p id="said" role="status"></p>
<p id="trouble" class="failure" role="alert" hidden></p>`;

interface Confirmed {
  readonly server: string;
  readonly caller: string;
  readonly issuer: string;
  readonly hasLogin: boolean;
  /** The proof of the browser, for one use. */
  readonly proof: string;
}

/** The page that leads a caller to the issuer of a server, after a click. */
export function confirmPage({ server, caller, issuer, hasLogin, proof }: Confirmed): string {
  const remove = html` <button type="submit" name="${FIELDS.action}" value="${FIELDS.remove}">Delete this login</button>`;
  return page(
    `Sign in to ${server}`,
    html`<p><strong>${caller}</strong> signs in to <strong>${server}</strong> at <code>${issuer}</code>.</p>
${hasLogin ? html`<p>There is a login, which the new one replaces.</p>` : undefined}
<form method="post" action="${loginPath(server)}">
  <input type="hidden" name="${FIELDS.proof}" value="${proof}">
  <p><button type="submit" class="primary">Sign in</button>${hasLogin ? remove : undefined}</p>
</form>`,
  );
}

/** A page with one sentence. */
export function sentencePage(title: string, sentence: string, isFailure = false): string {
  return page(title, isFailure ? html`<p class="failure" role="alert">${sentence}</p>` : html`<p>${sentence}</p>`);
}

function page(title: string, content: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/login.css">
<script type="module" src="/login.js"></script>
</head>
<body>
<main class="card">
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`.text;
}
