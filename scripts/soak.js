// Minutes of mixed traffic with failures. Prints numbers, and fails if a response is lost or if memory grows.
// Usage: npm run soak -- [minutes] for the answer tools over stdio, npm run soak -- gateway [minutes] for the gateway.
import { isGateway, minutes } from './lib/soak-options.js';

if (!(minutes > 0)) {
  console.error('Usage: npm run soak -- [gateway] [minutes]');
  process.exit(2);
}
await import(isGateway ? './soak-gateway.js' : './soak-answers.js');
