import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 20_000,
    // Two workers: the end-to-end tests start processes of their own and want a core for them.
    maxWorkers: 2,
  },
});
