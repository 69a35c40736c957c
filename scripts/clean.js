// Removes what `npm run build` writes.
import { rmSync } from 'node:fs';

rmSync(new URL('../build', import.meta.url), { recursive: true, force: true });
