import type { Dispatcher } from 'undici';

/**
 * How many parts of bodies are read in a turn of the event loop. Each takes at least 15 µs, however small it is, and a server can send ten
 * thousand in what is read of a connection at once.
 */
const PARTS_PER_TURN = 250;

/** Reads the parts of bodies in turns, which all responses of its dispatchers share. */
export function partsInTurns(): Dispatcher.DispatcherComposeInterceptor {
  let left = PARTS_PER_TURN;
  /** Each continues a response. */
  const waiting = new Set<() => void>();
  const onTurn = () => {
    left = PARTS_PER_TURN;
    for (const proceed of waiting) {
      waiting.delete(proceed);
      proceed();
      if (left <= 0) break;
    }
  };
  const isLastOfTurn = () => {
    if (left === PARTS_PER_TURN) setImmediate(onTurn);
    left -= 1;
    return left <= 0;
  };
  return (dispatch) => (options, handler) => {
    let wait = () => {};
    let proceed = () => {};
    return dispatch(options, {
      onRequestStart(controller, context) {
        const pause = controller.pause.bind(controller);
        const resume = controller.resume.bind(controller);
        let isRead = true;
        // The reader pauses and resumes, too: a response is continued if both want it.
        controller.pause = () => {
          isRead = false;
          pause();
        };
        controller.resume = () => {
          isRead = true;
          if (!waiting.has(proceed)) resume();
        };
        wait = pause;
        proceed = () => isRead && resume();
        handler.onRequestStart?.(controller, context);
      },
      onRequestUpgrade: (...upgrade) => handler.onRequestUpgrade?.(...upgrade),
      onResponseStart: (...start) => handler.onResponseStart?.(...start),
      onResponseData(controller, part) {
        handler.onResponseData?.(controller, part);
        if (!isLastOfTurn()) return;
        waiting.add(proceed);
        wait();
      },
      onResponseEnd: (...end) => handler.onResponseEnd?.(...end),
      onResponseError(...error) {
        waiting.delete(proceed);
        handler.onResponseError?.(...error);
      },
    });
  };
}
