// Minutes of mixed traffic with failures. Prints numbers, and fails if a response is lost or if memory grows.
// Usage: npm run soak -- [minutes] for the answer tools over stdio, npm run soak -- gateway [minutes] for the gateway,
// npm run soak -- attack [minutes] for normal callers beside strangers and hostile servers, npm run soak -- long-answers [minutes] for
// answers that take longer than their callers wait.
import { kind, minutes } from './lib/soak-options.js';

if (!(minutes > 0)) {
  console.error('Usage: npm run soak -- [gateway | attack | long-answers] [minutes]');
  process.exit(2);
}
await import(`./soak-${kind}.js`);
