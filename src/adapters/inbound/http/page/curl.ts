/** The command that makes the same call in a shell. A token is named, and never part of it. */
export function curlCommand(url: string, input: unknown, needsToken: boolean): string {
  const token = needsToken ? ' -H "Authorization: Bearer $TOKEN"' : '';
  const data = quoted(JSON.stringify(input));
  return `curl ${quoted(url)} -H 'Content-Type: application/json'${token} \\\n  -d ${data}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
