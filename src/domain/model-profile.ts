import type { ToolName } from './tool-name.ts';

/** The values that the API accepts as `reasoning.effort` (ruling 11). */
export const REASONING_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export const VERBOSITIES = ['low', 'medium', 'high'] as const;
export const SEARCH_CONTEXT_SIZES = ['low', 'medium', 'high'] as const;

/** The model of a tool and its parameters (spec 3.0.1). */
export interface ModelProfile {
  readonly model: string;
  readonly reasoningEffort?: (typeof REASONING_EFFORTS)[number];
  readonly verbosity?: (typeof VERBOSITIES)[number];
  /** Maximum number of output tokens, reasoning included. */
  readonly maxOutputTokens?: number;
  /** Maximum number of searches and opened pages per answer. */
  readonly maxToolCalls?: number;
  readonly searchContextSize?: (typeof SEARCH_CONTEXT_SIZES)[number];
}

/** Profiles as configured. A field that a tool's profile does not set is taken from `answer` (ruling 11). */
export type ModelProfiles = Readonly<Partial<Record<ToolName, Partial<ModelProfile>>>>;

/** The profile of a tool, or undefined if `answer` was removed and the tool has no model. */
export function profileFor(tool: ToolName, profiles: ModelProfiles): ModelProfile | undefined {
  const { model, ...rest } = { ...profiles.answer, ...profiles[tool] };
  return model === undefined ? undefined : { model, ...rest };
}

/** The optional parameters that a model supports, judging by its ID (spec 5.6, ruling 11). */
export function modelSupport(model: string): { readonly verbosity: boolean; readonly reasoning: boolean } {
  const gptFiveOrLater = Number(/^gpt-(\d+)/.exec(model)?.[1] ?? 0) >= 5;
  return { verbosity: gptFiveOrLater, reasoning: gptFiveOrLater || /^o[34]/.test(model) };
}

/** Where the user is, approximately, for web searches. */
export interface UserLocation {
  readonly country?: string;
  readonly region?: string;
  readonly city?: string;
  readonly timezone?: string;
}
