import { FakeClock } from './fake-clock.ts';
import { RecordingLogger } from './recording-logger.ts';
import { redactorOf } from './redactor.ts';

/** What every command gets, and `printed`: the exit code of a command, with what it has written since the last one. */
export function commandContext({ isTTY = false } = {}) {
  const [out, err]: [string[], string[]] = [[], []];
  const context = {
    clock: new FakeClock(),
    logger: new RecordingLogger(),
    redactor: redactorOf(),
    out: (text: string) => out.push(text),
    err: { isTTY, write: (text: string) => err.push(text) },
  };
  const printed = async (command: Promise<number>) => {
    const exitCode = await command;
    return { exitCode, out: out.splice(0).join(''), err: err.splice(0).join('') };
  };
  return { context, printed };
}
