/** The answer tools, in the order of `tools/list`. */
export const TOOL_NAMES = ['answer', 'answer_detailed', 'answer_quick'] as const;

export type ToolName = (typeof TOOL_NAMES)[number];

/** Checks the sources of a text, with `citations.tool`. */
export const CHECK_TOOL = 'check_sources';

export function isToolName(value: unknown): value is ToolName {
  return TOOL_NAMES.some((name) => name === value);
}
