import { clean } from './adapters/inbound/clean.ts';
import { compose } from './container.ts';
export const main = () => [clean, compose];
