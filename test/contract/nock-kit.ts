import nock from 'nock';
import { afterAll, afterEach, beforeAll } from 'vitest';

/** No request of the tests of a file leaves the process: `nock` answers those that a test expects, and the others fail. */
export function nockPerTest(): void {
  beforeAll(() => {
    // The files of a worker share their modules.
    if (!nock.isActive()) nock.activate();
    nock.disableNetConnect();
  });
  afterEach(() => {
    nock.cleanAll();
  });
  afterAll(() => {
    nock.enableNetConnect();
    nock.restore();
  });
}
