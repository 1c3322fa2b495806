import type { KubeClient, Resource } from "@resource-broker/kube";
import type { WatchEvent, WatchQuery } from "@resource-broker/kube/testing";

export interface WatchHandle<T> {
  /** Resolves when the server has accepted the watch. */
  readonly opened: Promise<void>;
  /** The next event that is no bookmark; undefined at the end. */
  readonly next: () => Promise<Exclude<WatchEvent<T>, { readonly type: "BOOKMARK" }> | undefined>;
  /** All events up to the end, bookmarks too. */
  readonly rest: () => Promise<readonly WatchEvent<T>[]>;
  readonly stop: () => void;
}

/** Begins to watch at once. */
export function startWatch<T>(
  client: KubeClient,
  resource: Resource<T>,
  query: Omit<WatchQuery, "signal" | "onOpen">,
): WatchHandle<T> {
  const stopping = new AbortController();
  let onOpen = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    onOpen = resolve;
  });
  const events = client
    .watch(resource, { ...query, signal: stopping.signal, onOpen: () => onOpen() })
    [Symbol.asyncIterator]();
  // A generator runs only when it is asked.
  let first: Promise<IteratorResult<WatchEvent<T>>> | undefined = events.next();
  first.catch(() => undefined);
  const read = (): Promise<IteratorResult<WatchEvent<T>>> => {
    const result = first ?? events.next();
    first = undefined;
    return result;
  };
  return {
    opened,
    next: async () => {
      for (;;) {
        const { done, value } = await read();
        if (done === true) return undefined;
        if (value.type !== "BOOKMARK") return value;
      }
    },
    rest: async () => {
      const all: WatchEvent<T>[] = [];
      for (let result = await read(); result.done !== true; result = await read()) all.push(result.value);
      return all;
    },
    stop: () => stopping.abort(),
  };
}
