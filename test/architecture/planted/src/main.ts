import { clean } from './adapters/inbound/clean.ts';
import { compose } from './wiring/container.ts';
export const main = () => [clean, compose];
