import type { Host, OutputFormat } from "../cli/command.ts";
import { type Column, print, table } from "./print.ts";

const POLL_MS = 1000;

/** A list of things that have a name and change. */
export interface Listing<Item> {
  readonly items: readonly Item[];
  /** What json and yaml show of one. */
  readonly dataOf: (item: Item) => object;
  readonly nameOf: (item: Item) => string;
  /** What tells two things apart where names do not. Absent: the name. */
  readonly keyOf?: (item: Item) => string;
  /** Identifies the state of an item. Ages are left out, because they always change. */
  readonly fingerprintOf: (item: Item) => string;
  readonly columns: readonly Column<Item>[];
  /** Said on standard error when there is nothing to show. Absent: nothing is said. */
  readonly whenEmpty?: string;
  /** Said there as well, before the first list. */
  readonly remarks?: readonly string[];
}

export interface ListingOptions {
  readonly output: OutputFormat;
  readonly watch: boolean;
  /** Resolves when another look may show something new. Absent: after a second. */
  readonly untilChange?: (() => Promise<void>) | undefined;
}

/** Prints a list; with `watch`, looks again and again and prints what is new or has changed, until it is ended. */
export async function printListing<Item>(
  read: () => Promise<Listing<Item>>,
  { output, watch, untilChange = () => host.pause(POLL_MS) }: ListingOptions,
  host: Host,
): Promise<undefined> {
  const first = await read();
  for (const remark of remarksOn(first)) host.note(`${remark}\n`);
  printItems(first, first.items, { output, host });
  const { keyOf = first.nameOf } = first;
  const seen = new Map(first.items.map((item) => [keyOf(item), first.fingerprintOf(item)]));
  while (watch) {
    await untilChange();
    const listing = await read();
    const changed = listing.items.filter((item) => seen.get(keyOf(item)) !== listing.fingerprintOf(item));
    const isFirstRow = seen.size === 0;
    for (const item of changed) seen.set(keyOf(item), listing.fingerprintOf(item));
    if (isFirstRow) printItems(listing, changed, { output, host });
    else if (changed.length > 0) printChanged(listing, changed, { output, host });
  }
  return undefined;
}

function remarksOn<Item>({ items, whenEmpty, remarks = [] }: Listing<Item>): readonly string[] {
  return items.length === 0 && whenEmpty !== undefined ? [whenEmpty, ...remarks] : remarks;
}

interface Printer {
  readonly output: OutputFormat;
  readonly host: Host;
}

function printItems<Item>(listing: Listing<Item>, items: readonly Item[], { output, host }: Printer): void {
  const { columns, dataOf, nameOf } = listing;
  const view = {
    data: items.map(dataOf),
    table: (isWide: boolean) => table(columns, items, isWide),
    names: items.map(nameOf),
  };
  print(view, output, host);
}

/** The rows alone, as wide as in the whole table: its titles stand above already. */
function printChanged<Item>(listing: Listing<Item>, changed: readonly Item[], printer: Printer): void {
  const { output, host } = printer;
  if (output !== "table" && output !== "wide") return printItems(listing, changed, printer);
  const rows = table(listing.columns, listing.items, output === "wide")
    .split("\n")
    .slice(1);
  host.out(
    rows
      .filter((_, index) => changed.some((item) => item === listing.items[index]))
      .map((row) => `${row}\n`)
      .join(""),
  );
}
