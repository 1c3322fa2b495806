import type { Timers } from "./timers.ts";

/** Ticks only while somebody listens and the page is looked at: an idle page costs nothing. */
export interface Ticker {
  readonly subscribe: (listener: () => void) => () => void;
}

export interface Visibility {
  readonly isHidden: () => boolean;
  readonly onChange: (listener: () => void) => void;
}

export function createTicker(everyMs: number, timers: Timers, visibility: Visibility): Ticker {
  const listeners = new Set<() => void>();
  let cancel: (() => void) | undefined;

  const tick = (): void => {
    for (const listener of listeners) listener();
    cancel = timers.after(everyMs, tick);
  };
  const adjust = (): void => {
    const isWanted = listeners.size > 0 && !visibility.isHidden();
    if (isWanted && cancel === undefined) cancel = timers.after(everyMs, tick);
    if (!isWanted) {
      cancel?.();
      cancel = undefined;
    }
  };
  visibility.onChange(() => {
    if (!visibility.isHidden()) for (const listener of listeners) listener();
    adjust();
  });
  return {
    subscribe: (listener) => {
      listeners.add(listener);
      adjust();
      return () => {
        listeners.delete(listener);
        adjust();
      };
    },
  };
}
