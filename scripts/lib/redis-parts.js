// Replaces `@redis/client` in the bundle: a client for one server. Its index also loads clusters, sentinels and pools.
import client from '@redis/client/dist/lib/client/index.js';

export const createClient = client.default.create;
