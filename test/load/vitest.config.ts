import { defineConfig } from 'vitest/config';

/** Load, floods, kills and clusters, which need a machine for themselves: `npm run test:load`. */
export default defineConfig({
  test: {
    include: ['test/load/**/*.test.ts'],
    testTimeout: 300_000,
    // A poll ends before its test, so that the failure says what was found.
    expect: { poll: { timeout: 60_000 } },
    maxWorkers: 1,
  },
});
