/** Assigns small integers to items, so that a numeric table can refer to them. Numbers start at 1 and are reused. */
export function slotTable<Item>() {
  const items: (Item | undefined)[] = [undefined];
  const free: number[] = [];
  return {
    add(make: (number: number) => Item): Item {
      const number = free.pop() ?? items.length;
      const item = make(number);
      items[number] = item;
      return item;
    },
    get: (number: number): Item | undefined => items[number],
    remove(number: number): void {
      if (items[number] === undefined) return;
      items[number] = undefined;
      free.push(number);
    },
  };
}
