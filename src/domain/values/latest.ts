/** Remembers the result for the latest input, where successive inputs are usually the same. */
export function latest<Input, Output>(compute: (input: Input) => Output): (input: Input) => Output {
  let known: { readonly input: Input; readonly output: Output } | undefined;
  return (input) => {
    if (known === undefined || known.input !== input) known = { input, output: compute(input) };
    return known.output;
  };
}
