/** Maximum size of a document of an authorization server. Most have some kilobytes or, with certificates, tens of kilobytes. */
export const MAX_DOCUMENT_BYTES = 256 * 1024;

/** The first bytes of a body, at most `max`, and whether there are more, which are not read. */
export async function readBytes(body: AsyncIterable<Uint8Array> | null, max: number) {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk.subarray(0, max - length));
    length += chunk.length;
    if (length > max) break;
  }
  return { bytes: Buffer.concat(chunks), isCut: length > max };
}

/** The body of a response of an authorization server; undefined if it has more than `MAX_DOCUMENT_BYTES`. */
export async function readDocument({ body }: Response): Promise<string | undefined> {
  const { bytes, isCut } = await readBytes(body, MAX_DOCUMENT_BYTES);
  return isCut ? undefined : bytes.toString();
}
