import { append, type Child, el } from './elements.ts';
import { allowTokenQuestion, messageOf, NO_TOKEN } from './requests.ts';

/** The elements of a form that makes calls. */
interface CallElements {
  /** Has the class `running` during a call. */
  readonly box: HTMLElement;
  readonly submit: HTMLButtonElement;
  readonly cancel: HTMLButtonElement;
  readonly time: HTMLElement;
  readonly result: HTMLElement;
}

/** Makes a call, and returns the nodes to show. `elapsed` returns the time since its start, for people. */
type Work = (signal: AbortSignal, elapsed: () => string) => Promise<readonly Child[]>;

/** Runs one call at a time, with its time and a cancel button. */
export function callRunner({ box, submit, cancel, time, result }: CallElements): (work: Work) => Promise<void> {
  let controller: AbortController | undefined;
  cancel.onclick = () => controller?.abort();
  return async (work) => {
    if (controller !== undefined) return;
    allowTokenQuestion();
    controller = new AbortController();
    const { signal } = controller;
    const startedMs = performance.now();
    const elapsed = () => seconds(performance.now() - startedMs);
    const timer = setInterval(() => {
      time.textContent = elapsed();
    }, 100);
    box.classList.add('running');
    // A disabled button would lose the focus.
    submit.ariaDisabled = 'true';
    cancel.hidden = false;
    result.replaceChildren();
    try {
      const shown = await work(signal, elapsed);
      append(result, shown);
    } catch (error) {
      const reason = error === NO_TOKEN ? NO_TOKEN.message : `The call failed: ${messageOf(error)}`;
      const cancelled = el('p', { className: 'muted' }, `Cancelled after ${elapsed()}.`);
      result.append(signal.aborted ? cancelled : el('p', { className: 'failure' }, reason));
    }
    clearInterval(timer);
    time.textContent = '';
    box.classList.remove('running');
    submit.ariaDisabled = 'false';
    if (document.activeElement === cancel) submit.focus();
    cancel.hidden = true;
    controller = undefined;
  };
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(ms < 9950 ? 2 : 1)} s`;
}
