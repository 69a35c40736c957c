/** Counts the turns of the event loop from now on, and what is handled in each. */
export function countTurns() {
  const turns = [0];
  const onTurn = () => {
    turns.push(0);
    next = setImmediate(onTurn);
  };
  let next = setImmediate(onTurn);
  return {
    countItem: () => {
      turns.push((turns.pop() ?? 0) + 1);
    },
    /** The number of items of each turn. */
    stop: (): readonly number[] => {
      clearImmediate(next);
      return turns;
    },
  };
}
