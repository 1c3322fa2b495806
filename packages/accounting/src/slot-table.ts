/** Assigns small integers to items, so that a numeric table can refer to them. Numbers start at 1 and are reused. */
export interface SlotTable<Thing> {
  add(make: (number: number) => Thing): Thing;
  get(number: number): Thing | undefined;
  remove(number: number): void;
}

export function slotTable<Thing>(): SlotTable<Thing> {
  const items: (Thing | undefined)[] = [undefined];
  const free: number[] = [];
  return {
    add(make) {
      const number = free.pop() ?? items.length;
      const item = make(number);
      items[number] = item;
      return item;
    },
    get: (number) => items[number],
    remove(number) {
      if (items[number] === undefined) return;
      items[number] = undefined;
      free.push(number);
    },
  };
}
