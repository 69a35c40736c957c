/** The command that makes the same call in a shell. It names a variable for the token, and never contains the token. */
export function curlCommand(url: string, input: unknown, needsToken: boolean): string {
  const token = needsToken ? ' -H "Authorization: Bearer $TOKEN"' : '';
  const data = quoted(JSON.stringify(input));
  return `curl ${quoted(url)} -H 'Content-Type: application/json'${token} \\\n  -d ${data}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
