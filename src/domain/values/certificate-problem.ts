/** The codes of Node.js for a certificate that is not accepted. */
const CERTIFICATE = /CERT|^UNABLE_TO_|^INVALID_(?:CA|PURPOSE)$|^HOSTNAME_MISMATCH$/;

const UNKNOWN_AUTHORITY =
  /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?)$/;

const ADVICE =
  "the certificate is of an unknown authority; name a file with the authority's certificate in NODE_EXTRA_CA_CERTS";

/** The code of a failed connection, with advice if the authority of a certificate is unknown. */
export function explainedCode(code: string): string {
  return UNKNOWN_AUTHORITY.test(code) ? `${code}: ${ADVICE}` : code;
}

/** Why a certificate was not accepted, with the code; undefined if the failure has another cause. */
export function certificateProblem(error: unknown): string | undefined {
  const codes = causesOf(error).map(codeOf);
  const code = codes.find((code = '') => CERTIFICATE.test(code));
  return code && explainedCode(code);
}

/** Why something failed, for people: the code of the innermost cause that has a code, or the first line of the innermost message. */
export function reasonOf(error: unknown): string {
  const causes = causesOf(error);
  const code = causes.map(codeOf).findLast((code) => code !== undefined);
  const [message] = (causes.at(-1)?.message ?? String(error)).split('\n');
  return explainedCode(code ?? (message || 'no reason is known'));
}

/** The error and its causes, outermost first. */
export function causesOf(error: unknown): readonly Error[] {
  const causes: Error[] = [];
  for (let cause = error; cause instanceof Error && causes.length < 6; cause = cause.cause) causes.push(cause);
  return causes;
}

/** The code of an error of Node.js, of the system or of undici. */
export function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
