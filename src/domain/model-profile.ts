import type { ToolName } from './tool-name.ts';

/** What the API accepts as `reasoning.effort` (ruling 11). */
export const REASONING_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export const VERBOSITIES = ['low', 'medium', 'high'] as const;
export const SEARCH_CONTEXT_SIZES = ['low', 'medium', 'high'] as const;

/** How a tool asks its model (spec 3.0.1). */
export interface ModelProfile {
  readonly model: string;
  readonly reasoningEffort?: (typeof REASONING_EFFORTS)[number];
  readonly verbosity?: (typeof VERBOSITIES)[number];
  /** Upper bound of what the model may write, thinking included, in tokens. */
  readonly maxOutputTokens?: number;
  /** Upper bound of searches and opened pages in one answer. */
  readonly maxToolCalls?: number;
  readonly searchContextSize?: (typeof SEARCH_CONTEXT_SIZES)[number];
}

/** Profiles as configured; a tool without one uses that of `answer`, field by field (ruling 11). */
export type ModelProfiles = Readonly<Partial<Record<ToolName, Partial<ModelProfile>>>>;

/** The profile of a tool, or undefined where `answer` was taken away and the tool has no model of its own. */
export function profileFor(tool: ToolName, profiles: ModelProfiles): ModelProfile | undefined {
  const { model, ...rest } = { ...profiles.answer, ...profiles[tool] };
  return model === undefined ? undefined : { model, ...rest };
}

/** Which optional parameters a model takes, told by its id (spec 5.6, ruling 11). */
export function modelSupport(model: string): { readonly verbosity: boolean; readonly reasoning: boolean } {
  const gptFiveOrLater = Number(/^gpt-(\d+)/.exec(model)?.[1] ?? 0) >= 5;
  return { verbosity: gptFiveOrLater, reasoning: gptFiveOrLater || /^o[34]/.test(model) };
}
