import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/live/**', 'test/load/**'],
    // Far more than any test needs: on a busy machine, the start of a process alone can take seconds.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // A poll ends before its test, so that the failure says what was found.
    expect: { poll: { timeout: 60_000 } },
    // No test changes what others see, so that the files of a worker share their modules: to load them anew takes longer than most tests.
    isolate: false,
    // Most end-to-end tests wait for a process: with more workers than cores, others run meanwhile.
    maxWorkers: 3,
  },
});
