import { type Ask, AskFailure, isAborted } from "../net/ask.ts";
import { keepSame } from "../net/keep-same.ts";
import type { Timers } from "../time/timers.ts";
import type { Changes, LiveConnection, News } from "./live-connection.ts";

/** What a page shows of one question to the broker. */
export interface Answer<T> {
  readonly data: T | undefined;
  readonly failure: AskFailure | undefined;
  /** True: another question is under way, and `data` still answers the one before. */
  readonly isLoading: boolean;
}

/** How an answer is kept true while it is looked at. */
export interface Freshness<T> {
  /** Whether such changes may alter the answer. Absent: only a reload does. */
  readonly concerns?: (changes: Changes) => boolean;
  /** Puts rows that changed in their place at once, before the list is read again. */
  readonly patch?: (data: T, changes: Changes) => T;
  /** Least time between two readings for changes. */
  readonly restMs?: number;
  /** Reads again after this time, too: for what changes without an event. */
  readonly everyMs?: number | ((data: T | undefined) => number);
}

export interface LiveAnswer<T> {
  readonly subscribe: (listener: () => void) => () => void;
  readonly snapshot: () => Answer<T>;
  /** Null: nothing is asked. */
  readonly ask: (path: string | null) => void;
  readonly reload: () => void;
  readonly stop: () => void;
}

export interface AnswerDeps {
  readonly ask: Ask;
  readonly live: LiveConnection;
  readonly timers: Timers;
}

const DEFAULT_REST_MS = 250;

export function createLiveAnswer<T>(deps: AnswerDeps, freshness: Freshness<T>): LiveAnswer<T> {
  const { timers } = deps;
  const restMs = freshness.restMs ?? DEFAULT_REST_MS;
  const listeners = new Set<() => void>();
  let answer: Answer<T> = { data: undefined, failure: undefined, isLoading: false };
  let path: string | null = null;
  /** What `answer.data` answers. */
  let answered: string | undefined;
  let underWay: AbortController | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let cancelPlanned: (() => void) | undefined;
  let cancelNext = (): void => undefined;

  const become = (next: Answer<T>): void => {
    answer = next;
    for (const listener of listeners) listener();
  };

  const forgetPlan = (): void => {
    cancelPlanned?.();
    cancelPlanned = undefined;
    cancelNext();
  };

  const read = async (asked: string): Promise<void> => {
    underWay?.abort();
    const mine = new AbortController();
    underWay = mine;
    forgetPlan();
    readAt = timers.now();
    try {
      const data = await deps.ask.get<T>(asked, mine.signal);
      if (underWay !== mine) return;
      answered = asked;
      become({ data: keepSame(answer.data, data), failure: undefined, isLoading: false });
    } catch (error) {
      if (underWay !== mine || isAborted(error)) return;
      // Data of another path must not be shown with this error.
      const data = answered === asked ? answer.data : undefined;
      become({ data, failure: asFailure(error), isLoading: false });
    } finally {
      if (underWay === mine) {
        underWay = undefined;
        cancelNext = again();
      }
    }
  };

  const again = (): (() => void) => {
    const { everyMs } = freshness;
    if (everyMs === undefined) return () => undefined;
    return timers.after(typeof everyMs === "number" ? everyMs : everyMs(answer.data), reload);
  };

  const reload = (): void => {
    if (path !== null) void read(path);
  };

  /** One reading after the last change, and never more often than every `restMs`. */
  const plan = (): void => {
    if (cancelPlanned !== undefined) return;
    const waitMs = Math.max(0, readAt + restMs - timers.now());
    cancelPlanned = timers.after(waitMs, () => {
      cancelPlanned = undefined;
      reload();
    });
  };

  const hear = (news: News): void => {
    if (path === null) return;
    if (news.kind === "reload") return reload();
    if (answer.data !== undefined && freshness.patch !== undefined) {
      const patched = keepSame(answer.data, freshness.patch(answer.data, news.changes));
      if (patched !== answer.data) become({ ...answer, data: patched });
    }
    if (news.changes.more || freshness.concerns?.(news.changes) === true) plan();
    return undefined;
  };
  const stopHearing = deps.live.onNews(hear);

  return {
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    snapshot: () => answer,
    ask: (next) => {
      if (next === path) return;
      path = next;
      if (next === null) return;
      become({ ...answer, failure: undefined, isLoading: true });
      void read(next);
    },
    reload,
    stop: () => {
      stopHearing();
      forgetPlan();
      underWay?.abort();
      underWay = undefined;
    },
  };
}

function asFailure(error: unknown): AskFailure {
  if (error instanceof AskFailure) return error;
  return new AskFailure(error instanceof Error ? error.message : String(error), {
    status: 0,
    code: "unknown",
  });
}

/** The page with those of its rows that changed; the same page when the changes are elsewhere, as most are. */
export function patchRows<
  Row extends { readonly id: string },
  Page extends { readonly rows: readonly Row[] },
>(page: Page, changed: readonly Row[]): Page {
  const byId = new Map(changed.map((row) => [row.id, row]));
  if (!page.rows.some(({ id }) => byId.has(id))) return page;
  return { ...page, rows: page.rows.map((row) => byId.get(row.id) ?? row) };
}
