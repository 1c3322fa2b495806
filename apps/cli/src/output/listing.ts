import type { Host } from "../cli/host.ts";
import type { OutputFormat } from "./output-option.ts";
import { print } from "./print.ts";
import { type Column, table } from "./table.ts";

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
  readonly wideColumns: readonly Column<Item>[];
  /** Said on standard error when there is nothing to show. */
  readonly whenEmpty: string;
  /** Said there as well, before the first list. */
  readonly remark?: string;
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
): Promise<void> {
  const first = await read();
  if (first.items.length === 0) host.note(`${first.whenEmpty}\n`);
  if (first.remark !== undefined) host.note(`${first.remark}\n`);
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
}

interface Printer {
  readonly output: OutputFormat;
  readonly host: Host;
}

function printItems<Item>(listing: Listing<Item>, items: readonly Item[], { output, host }: Printer): void {
  const { columns, wideColumns, dataOf, nameOf } = listing;
  print(
    {
      data: items.map(dataOf),
      table: () => table(columns, items),
      wide: () => table(wideColumns, items),
      names: () => items.map(nameOf),
    },
    output,
    host,
  );
}

/** The rows alone, as wide as in the whole table: its titles stand above already. */
function printChanged<Item>(listing: Listing<Item>, changed: readonly Item[], printer: Printer): void {
  const { output, host } = printer;
  if (output !== "table" && output !== "wide") return printItems(listing, changed, printer);
  const columns = output === "wide" ? listing.wideColumns : listing.columns;
  const rows = table(columns, listing.items).split("\n").slice(1);
  host.out(
    rows
      .filter((_, index) => changed.some((item) => item === listing.items[index]))
      .map((row) => `${row}\n`)
      .join(""),
  );
}
