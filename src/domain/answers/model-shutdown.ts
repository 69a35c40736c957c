/** When a model is shut down, and what OpenAI recommends instead. */
export interface ModelShutdown {
  /** `YYYY-MM-DD`. */
  readonly on: string;
  readonly successor: string;
}

/** From OpenAI's page about deprecations (developers.openai.com/api/docs/deprecations), as of 2026-11-21. */
const SHUTDOWNS: readonly (ModelShutdown & { readonly models: readonly string[] })[] = [
  { on: '2026-07-23', successor: 'gpt-5.4', models: ['gpt-5-codex', 'gpt-5.1-codex-max', 'gpt-5.2-codex'] },
  { on: '2026-07-23', successor: 'gpt-5.4-mini', models: ['gpt-5.1-codex-mini'] },
  { on: '2026-07-23', successor: 'gpt-5.5', models: ['gpt-5-chat-latest', 'gpt-5.1-chat-latest', 'gpt-5.1-codex'] },
  { on: '2026-07-23', successor: 'gpt-5.4-pro', models: ['o3-deep-research', 'o4-mini-deep-research'] },
  { on: '2026-08-10', successor: 'gpt-5.5', models: ['gpt-5.2-chat-latest', 'gpt-5.3-chat-latest'] },
  { on: '2026-10-23', successor: 'gpt-5.6-terra', models: ['gpt-3.5-turbo', 'o4-mini', 'gpt-4.1-nano'] },
  { on: '2026-10-23', successor: 'gpt-5.6-sol', models: ['gpt-4', 'gpt-4-turbo', 'o1', 'o1-pro', 'o3-mini'] },
  { on: '2026-12-11', successor: 'gpt-6.1-sol', models: ['gpt-5', 'gpt-5-pro', 'o3', 'o3-pro'] },
  { on: '2026-12-11', successor: 'gpt-6.1-terra', models: ['gpt-5-mini'] },
  { on: '2026-12-11', successor: 'gpt-6.1-luna', models: ['gpt-5-nano'] },
  { on: '2027-01-14', successor: 'gpt-6-luna', models: ['gpt-4o', 'gpt-4o-mini', 'gpt-4.1', 'gpt-4.1-mini'] },
  { on: '2027-04-01', successor: 'gpt-6.1-sol', models: ['gpt-5.1'] },
];

/** The shutdown of a model or of a dated snapshot of it (`gpt-5-2025-08-07`); undefined if none was announced. */
export function shutdownOf(model: string): ModelShutdown | undefined {
  const name = model.replace(/-(?:\d{4}-\d{2}-\d{2}|\d{4})$/, '');
  return SHUTDOWNS.find(({ models }) => models.includes(name));
}

const NOTICE_MS = 90 * 24 * 60 * 60 * 1000;

/** Whether the shutdown is at most 90 days away, or past. */
export function isShutdownNear({ on }: ModelShutdown, today: string): boolean {
  return Date.parse(on) - Date.parse(today) <= NOTICE_MS;
}
