import { defineConfig } from 'vitest/config';

/** The tests of `npm run live`. Each asks the API with your key, which costs a little. */
export default defineConfig({
  test: { include: ['test/live/*.test.ts'], testTimeout: 900_000, maxWorkers: 1 },
});
