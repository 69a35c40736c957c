import { onTestFinished } from 'vitest';
import { StandardError, StderrLogger } from '../../src/adapters/outbound/logger/stderr-logger.ts';
import { createRedactor } from '../../src/domain/values/redaction.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { describeLogger, type StartedLogger } from './describe-logger.ts';

function startStderrLogger(isDebug: boolean): StartedLogger {
  let written = '';
  const { write } = process.stderr;
  process.stderr.write = (text: string | Uint8Array) => {
    written += String(text);
    return true;
  };
  onTestFinished(() => {
    process.stderr.write = write;
  });
  const common = { redactor: createRedactor(), clock: new FakeClock() };
  const logger = new StderrLogger({ ...common, debug: isDebug, stderr: new StandardError(common) });
  return { logger, logged: () => written };
}

function startRecordingLogger(isDebug: boolean): StartedLogger {
  const logger = new RecordingLogger({ isDebug });
  return { logger, logged: () => logger.lines.join('\n') };
}

describeLogger('StderrLogger', startStderrLogger);
describeLogger('RecordingLogger', startRecordingLogger);
