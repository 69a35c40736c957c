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
