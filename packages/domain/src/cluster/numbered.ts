/** Assigns small integers to items, so that a numeric table can refer to them. Numbers start at 1 and are reused. */
export interface Numbered<Thing> {
  add(make: (number: number) => Thing): Thing;
  get(number: number): Thing | undefined;
  remove(number: number): void;
}

export function numbered<Thing>(): Numbered<Thing> {
  const things: (Thing | undefined)[] = [undefined];
  const free: number[] = [];
  return {
    add(make) {
      const number = free.pop() ?? things.length;
      const thing = make(number);
      things[number] = thing;
      return thing;
    },
    get: (number) => things[number],
    remove(number) {
      if (things[number] === undefined) return;
      things[number] = undefined;
      free.push(number);
    },
  };
}
