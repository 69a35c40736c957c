import type { ToolName } from './tool-name.ts';

/** The values that the API accepts as `reasoning.effort`. */
export const REASONING_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export const VERBOSITIES = ['low', 'medium', 'high'] as const;
export const SEARCH_CONTEXT_SIZES = ['low', 'medium', 'high'] as const;

/** The model of a tool and its parameters. */
export interface ModelProfile {
  readonly model: string;
  readonly reasoningEffort?: (typeof REASONING_EFFORTS)[number];
  readonly verbosity?: (typeof VERBOSITIES)[number];
  /** Maximum number of output tokens, reasoning included. */
  readonly maxOutputTokens?: number;
  /** Maximum number of searches and opened pages per answer. */
  readonly maxToolCalls?: number;
  readonly searchContextSize?: (typeof SEARCH_CONTEXT_SIZES)[number];
  /** `required`: an answer without a search is a failure. */
  readonly search?: 'auto' | 'required';
  readonly serviceTier?: 'auto' | 'default' | 'flex' | 'priority';
  readonly reasoningMode?: 'standard' | 'pro';
  readonly returnTokenBudget?: 'default' | 'unlimited';
  /** The members that are configured, rather than defaults. */
  readonly configured?: readonly ('reasoningEffort' | 'verbosity')[];
}

/** Profiles as configured. A field that a tool's profile does not set is taken from `answer`. */
export type ModelProfiles = Readonly<Partial<Record<ToolName, Partial<ModelProfile>>>>;

/** The profile of a tool, or undefined if `answer` was removed and the tool has no model. */
export function profileFor(tool: ToolName, profiles: ModelProfiles): ModelProfile | undefined {
  const { model, ...rest } = { ...profiles.answer, ...profiles[tool] };
  const configured = [profiles.answer, profiles[tool]].flatMap((profile) => profile?.configured ?? []);
  return model === undefined ? undefined : { model, ...rest, ...(configured.length > 0 && { configured }) };
}

/** Which optional parameters the model of a profile gets. If its ID does not show what it accepts, it gets what is configured. */
export function profileSupport({ model, configured = [] }: ModelProfile) {
  const known = modelSupport(model);
  return {
    verbosity: known.verbosity ?? configured.includes('verbosity'),
    reasoning: known.reasoning ?? configured.includes('reasoningEffort'),
  };
}

function modelSupport(model: string): { readonly verbosity?: boolean; readonly reasoning?: boolean } {
  const gptFiveOrLater = Number(/^gpt-(\d+)/.exec(model)?.[1] ?? 0) >= 5;
  if (gptFiveOrLater) return { verbosity: true, reasoning: true };
  if (/^o[34](?!\w)/.test(model)) return { verbosity: false, reasoning: true };
  return /^(?:gpt-[34]|chatgpt-4|o1)/.test(model) ? { verbosity: false, reasoning: false } : {};
}

/** Where the user is, approximately, for web searches. */
export type UserLocation = Readonly<Partial<Record<'country' | 'region' | 'city' | 'timezone', string>>>;
