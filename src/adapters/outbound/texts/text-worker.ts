import { parentPort } from 'node:worker_threads';
import type { TextRequest } from '../../../application/ports/readers.ts';
import { readText } from './readings.ts';

/** The entry point of a thread that reads texts. */
parentPort?.on('message', (request: TextRequest) => parentPort?.postMessage({ value: readText(request) }));
