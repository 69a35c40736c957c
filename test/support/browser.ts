import { type Browser, launch, type Page } from 'puppeteer-core';
import { onTestFinished } from 'vitest';

export function launchBrowser(executablePath: string): Promise<Browser> {
  // Chromium has no sandbox for root, which runs the tests in containers.
  const args = ['--no-sandbox', '--disable-dev-shm-usage'];
  return launch({ executablePath, args });
}

export interface PageOptions {
  readonly width?: number;
  /** Timers of the page end sooner by this factor. */
  readonly speed?: number;
}

/** A page in the browser, as the test looks at it and uses it. */
export interface OpenPage {
  readonly page: Page;
  /** Errors in the console (also violations of the Content-Security-Policy), exceptions, and requests to other hosts. */
  readonly problems: readonly string[];
  /** Every request of the page: method, path and, once known, status. */
  readonly requests: readonly string[];
  /** The value of an expression in the page. */
  value(expression: string): Promise<unknown>;
  /** Resolves when an expression is true in the page. */
  until(expression: string): Promise<void>;
  /** The text of the first element; empty if there is none. */
  text(selector: string): Promise<string>;
  /** Resolves when the text of the first element contains `part`. */
  untilText(selector: string, part: string): Promise<void>;
  /** Enters text into the first element, after its own text, once it is shown. */
  enter(selector: string, text: string): Promise<void>;
  /** Clicks on the tool of this name, and resolves when its form is shown. */
  choose(tool: string): Promise<void>;
  /** Calls the chosen tool with its form as it is, and resolves when the result contains `part`. */
  call(part: string): Promise<void>;
  /** Asks the question that was entered, and resolves when the answer contains `part`. */
  ask(part: string): Promise<void>;
}

/** Opens a URL in a browser context of its own, for one test. */
export async function openPage(browser: Browser, url: string, options: PageOptions = {}): Promise<OpenPage> {
  const { width = 1280, speed = 1 } = options;
  const context = await browser.createBrowserContext();
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const problems: string[] = [];
  const requests: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('request', (request) => {
    if (!/^data:/.test(request.url()) && new URL(request.url()).host !== new URL(url).host)
      problems.push(request.url());
  });
  page.on('response', (response) => {
    requests.push(`${response.request().method()} ${new URL(response.url()).pathname} ${response.status()}`);
  });
  await page.setViewport({ width, height: 900, isMobile: width < 500, hasTouch: width < 500 });
  if (speed !== 1) {
    await page.evaluateOnNewDocument(
      `const sleep = setTimeout; setTimeout = (run, ms, ...rest) => sleep(run, ms / ${speed}, ...rest);`,
    );
  }
  // The page may replace an element between the look at it and the click: a locator looks again.
  page.click = (selector) => page.locator(selector).click();
  await page.goto(url);

  const value = (expression: string): Promise<unknown> => page.evaluate(expression);
  const until = async (expression: string): Promise<void> => {
    await page.waitForFunction(expression, { timeout: 60_000, polling: 20 });
  };
  const textOf = (selector: string) => `(document.querySelector(${JSON.stringify(selector)})?.textContent ?? '')`;
  const text = async (selector: string): Promise<string> => String(await value(textOf(selector)));
  const untilText: OpenPage['untilText'] = (selector, part) =>
    until(`${textOf(selector)}.includes(${JSON.stringify(part)})`);
  const choose: OpenPage['choose'] = async (tool) => {
    const button = `[...document.querySelectorAll('.tools button')].find((button) =>
      button.querySelector('code').textContent === ${JSON.stringify(tool)})`;
    await until(`${button} !== undefined`);
    await value(`${button}.click()`);
    await untilText('#tool code', ` / ${tool}`);
  };
  const enter: OpenPage['enter'] = async (selector, text) => {
    await page.waitForSelector(selector, { visible: true });
    await page.focus(selector);
    await page.keyboard.sendCharacter(text);
  };
  const call: OpenPage['call'] = async (part) => {
    await page.click('#tool [type="submit"]');
    await untilText('#tool .result', part);
  };
  const ask: OpenPage['ask'] = async (part) => {
    await page.click('#ask-submit');
    await untilText('#ask-result', part);
  };
  return { page, problems, requests, value, until, text, untilText, enter, choose, call, ask };
}
