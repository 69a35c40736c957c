const KEY_BYTES = 32;

/** The key of a text in hex or base64; undefined if it has another length. */
export function parseLoginsKey(text: string): Buffer | undefined {
  const isHex = /^[\da-f]{64}$/i.test(text);
  const isBase64 = /^[\w+/-]{43}=?$/.test(text);
  const key = isHex ? Buffer.from(text, 'hex') : Buffer.from(isBase64 ? text : '', 'base64');
  return key.length === KEY_BYTES ? key : undefined;
}
