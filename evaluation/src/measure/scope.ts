import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Context } from "../evaluation-test.ts";
import { withCleanup } from "./async.ts";

/** What is started with the inner context ends with `use`, long before the test does. */
export function inScope<C extends Pick<Context, "onCleanup">, T>(
  context: C,
  use: (inner: C) => Promise<T>,
): Promise<T> {
  return withCleanup((onCleanup) => use({ ...context, onCleanup }));
}

export interface Part {
  /** Of its folder. */
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** A part of a test: with a folder of its own, and its share of the progress. */
export async function partOf<C extends Pick<Context, "folder" | "progress">>(
  context: C,
  { name, from, to }: Part,
): Promise<C> {
  const folder = join(context.folder, name);
  await mkdir(folder, { recursive: true });
  const progress: Context["progress"] = (share, doing) => context.progress(from + share * (to - from), doing);
  return { ...context, folder, progress };
}

interface Turns<Item, Result> {
  readonly doing: (item: Item) => string;
  readonly task: (item: Item, index: number) => Promise<Result>;
}

/** One after the other, telling how far it is, until the run is stopped. */
export async function inTurn<Item, Result>(
  { signal, progress }: Pick<Context, "signal" | "progress">,
  items: readonly Item[],
  { doing, task }: Turns<Item, Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const [index, item] of items.entries()) {
    signal.throwIfAborted();
    progress(index / items.length, doing(item));
    results.push(await task(item, index));
  }
  return results;
}

/** 1, 2, 3 … */
export function numbersTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}
