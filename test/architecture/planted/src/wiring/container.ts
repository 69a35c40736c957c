import 'reflect-metadata';
import { container } from 'tsyringe';
import { clean } from '../adapters/outbound/clean.ts';
export const compose = () => [container, clean];
