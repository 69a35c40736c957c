import { afterEach, beforeEach } from 'vitest';
import type { Behaviour } from '../support/behaviours.ts';
import { type FakeApi, startFakeApi } from '../support/fake-api.ts';
import { type ForwardProxy, startForwardProxy } from '../support/forward-proxy.ts';
import { type PageServer, startPageServer } from '../support/page-server.ts';

interface Web {
  readonly api: FakeApi;
  readonly pages: PageServer;
  /** For it, every name is this machine. */
  readonly proxy: ForwardProxy;
}

/** An API that always answers the same, and pages that are reached through a proxy, by their paths. */
export function webPerTest(always: Behaviour, served: Readonly<Record<string, string>>): Web {
  const web = {} as { -readonly [Part in keyof Web]: Web[Part] };
  beforeEach(async () => {
    web.api = await startFakeApi({ always });
    web.pages = await startPageServer();
    for (const [path, page] of Object.entries(served)) web.pages.serve(path, page);
    web.proxy = await startForwardProxy(web.pages.port);
  });
  afterEach(async () => {
    await web.proxy.close();
    await web.pages.close();
    await web.api.close();
  });
  return web;
}
