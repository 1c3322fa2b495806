/** Timers of a page; a test brings its own. */
export interface Timers {
  /** Milliseconds that only grow. */
  readonly now: () => number;
  /** Returns what takes it back. */
  readonly after: (delayMs: number, action: () => void) => () => void;
}

export function windowTimers(): Timers {
  return {
    now: () => performance.now(),
    after: (delayMs, action) => {
      const timer = setTimeout(action, delayMs);
      return () => clearTimeout(timer);
    },
  };
}

/** The broker's clock decides what is stale or expired; the local clock may be wrong. */
export interface BrokerClock {
  readonly now: () => number;
  /** Told each time the broker says what time it is. */
  readonly set: (now: string) => void;
}

export function createBrokerClock(timers: Timers): BrokerClock {
  let offsetMs = 0;
  return {
    now: () => timers.now() + offsetMs,
    set: (now) => {
      offsetMs = Date.parse(now) - timers.now();
    },
  };
}

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
