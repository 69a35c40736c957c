// Replaces `@modelcontextprotocol/client/_shims` in the bundle. The client's default validator is a second copy of ajv, and is
// never used: src/adapters/outbound/mcp-client/client.ts passes its own validator.

/** As in the client's own module for Node.js. */
export const CORS_IS_POSSIBLE = false;

export class DefaultJsonSchemaValidator {
  constructor() {
    throw new Error('the official client has no validator of its own in this program: pass jsonSchemaValidator');
  }
}
