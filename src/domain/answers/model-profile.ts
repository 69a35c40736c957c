import type { ToolName } from './question.ts';

/** The text values that a parameter accepts, or none if it is a number. */
interface Parameter {
  /** The place in a request to the API; `tools` is its search tool. */
  readonly path: string;
  readonly values?: readonly string[];
  /** What a model must support to get the parameter. */
  readonly needs?: 'verbosity' | 'reasoning';
}

/**
 * The optional parameters of a request that a profile sets, by the member of the profile. The configuration, the request and the rejections of the
 * API read this table. A parameter that a model rejects is left out.
 */
export const PARAMETERS = {
  verbosity: { path: 'text.verbosity', values: ['low', 'medium', 'high'], needs: 'verbosity' },
  reasoningEffort: {
    path: 'reasoning.effort',
    values: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
    needs: 'reasoning',
  },
  reasoningMode: { path: 'reasoning.mode', values: ['standard', 'pro'] },
  /** Maximum number of output tokens, reasoning included. */
  maxOutputTokens: { path: 'max_output_tokens' },
  /** Maximum number of searches and opened pages per answer. */
  maxToolCalls: { path: 'max_tool_calls' },
  serviceTier: { path: 'service_tier', values: ['auto', 'default', 'flex', 'priority'] },
  searchContextSize: { path: 'tools.search_context_size', values: ['low', 'medium', 'high'] },
  returnTokenBudget: { path: 'tools.return_token_budget', values: ['default', 'unlimited'] },
} as const satisfies Readonly<Record<string, Parameter>>;

type Table = typeof PARAMETERS;
type Value<Row> = Row extends { readonly values: readonly (infer Text)[] } ? Text : number;
type Parameters = { readonly [Name in keyof Table]?: Value<Table[Name]> };

/** The model of a tool and its parameters. */
export interface ModelProfile extends Parameters {
  readonly model: string;
  /** `required`: an answer without a search is a failure. */
  readonly search?: 'auto' | 'required';
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

/** The parameters of a profile that its model gets, with their paths in a request. */
export function parametersOf(profile: ModelProfile): readonly { readonly path: string; readonly value: unknown }[] {
  const supports = profileSupport(profile);
  return ROWS.flatMap(([name, { path, needs }]) => {
    const value = profile[name];
    return value === undefined || (needs !== undefined && !supports[needs]) ? [] : [{ path, value }];
  });
}

const ROWS = Object.entries(PARAMETERS) as readonly [keyof Table, Parameter][];

function modelSupport(model: string): { readonly verbosity?: boolean; readonly reasoning?: boolean } {
  const gptFiveOrLater = Number(/^gpt-(\d+)/.exec(model)?.[1] ?? 0) >= 5;
  if (gptFiveOrLater) return { verbosity: true, reasoning: true };
  if (/^o[34](?!\w)/.test(model)) return { verbosity: false, reasoning: true };
  return /^(?:gpt-[34]|chatgpt-4|o1)/.test(model) ? { verbosity: false, reasoning: false } : {};
}

/** Where the user is, approximately, for web searches. */
export type UserLocation = Readonly<Partial<Record<'country' | 'region' | 'city' | 'timezone', string>>>;
