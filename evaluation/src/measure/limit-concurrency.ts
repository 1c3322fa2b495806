/** Runs a task as soon as fewer than so many are under way; the others wait in line. */
export type ConcurrencyLimit = <T>(task: () => Promise<T>) => Promise<T>;

export function limitConcurrency(most: number): ConcurrencyLimit {
  const waiting: (() => void)[] = [];
  let underWay = 0;
  const enter = (): Promise<void> => {
    if (underWay < most) {
      underWay += 1;
      return Promise.resolve();
    }
    return new Promise((resolve) => void waiting.push(resolve));
  };
  const leave = (): void => {
    const next = waiting.shift();
    // The place is handed on: it is never free in between.
    if (next === undefined) underWay -= 1;
    else next();
  };
  return async (task) => {
    await enter();
    try {
      return await task();
    } finally {
      leave();
    }
  };
}
