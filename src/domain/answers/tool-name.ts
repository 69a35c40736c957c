/** The answer tools, in the order of `tools/list` (spec 3.0). */
export const TOOL_NAMES = ['answer', 'answer_detailed', 'answer_quick'] as const;

export type ToolName = (typeof TOOL_NAMES)[number];

export function isToolName(value: unknown): value is ToolName {
  return TOOL_NAMES.some((name) => name === value);
}
