import { setTimeout as sleep } from "node:timers/promises";
import type { Books } from "./booking.ts";
import type { Order } from "./order.ts";
import { type Drained, violations } from "./violations.ts";

const SETTLE_MS = 500;

export interface Judgement {
  readonly books: Books;
  /** What of them is wrong. */
  readonly problems: readonly string[];
}

/**
 * Compares what clients were told with the books of a broker that runs. A call whose client hung up may still be carried
 * out while they are read, page by page: books that look wrong are read again, and judged when they no longer change.
 */
export async function judgeBooks(
  orders: readonly Order[],
  read: () => Promise<Books>,
  drained?: Drained,
): Promise<Judgement> {
  let books = await read();
  for (;;) {
    const problems = violations(orders, books, drained);
    if (problems.length === 0) return { books, problems };
    await sleep(SETTLE_MS);
    const again = await read();
    if (JSON.stringify(again) === JSON.stringify(books)) return { books, problems };
    books = again;
  }
}
