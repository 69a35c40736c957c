import { createHash } from 'node:crypto';
import { both } from '../../application/clean.ts';
export const clean = [both, createHash];
