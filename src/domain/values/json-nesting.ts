/** Default limit of the depth of JSON, because code that walks through a value needs stack. */
export const MAX_NESTING = 1000;

/** Whether a value of JSON nests more than `max` levels deep. */
export function isNestedDeeper(value: unknown, max: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return max === 0 || Object.values(value).some((member) => isNestedDeeper(member, max - 1));
}
