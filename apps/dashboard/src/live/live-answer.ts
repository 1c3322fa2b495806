import { type ApiClient, ApiError, isAborted } from "../net/api-client.ts";
import { shareStructure } from "../net/structural-sharing.ts";
import type { Timers } from "../time/timers.ts";
import type { Changes, LiveConnection, LiveUpdate } from "./live-connection.ts";

/** What a page shows of one question to the broker. */
export interface Answer<T> {
  readonly data: T | undefined;
  readonly failure: ApiError | undefined;
  /** True: another question is under way, and `data` still answers the one before. */
  readonly isLoading: boolean;
}

/** How an answer is kept true while it is looked at. */
export interface RefreshPolicy<T> {
  /** Whether such changes may alter the answer. Absent: only a reload does. */
  readonly isAffectedBy?: (changes: Changes) => boolean;
  /** Puts rows that changed in their place at once, before the list is read again. */
  readonly patch?: (data: T, changes: Changes) => T;
  /** Least time between two readings for changes. */
  readonly minIntervalMs?: number;
  /** Reads again after this time, too: for what changes without an event. */
  readonly pollMs?: number | ((data: T | undefined) => number);
}

export interface LiveAnswer<T> {
  readonly subscribe: (listener: () => void) => () => void;
  readonly snapshot: () => Answer<T>;
  /** Null: nothing is asked. */
  readonly load: (path: string | null) => void;
  readonly reload: () => void;
  readonly stop: () => void;
}

export interface AnswerDeps {
  readonly api: ApiClient;
  readonly live: LiveConnection;
  readonly timers: Timers;
}

const DEFAULT_MIN_INTERVAL_MS = 250;

export function createLiveAnswer<T>(deps: AnswerDeps, policy: RefreshPolicy<T>): LiveAnswer<T> {
  const { timers } = deps;
  const restMs = policy.minIntervalMs ?? DEFAULT_MIN_INTERVAL_MS;
  const listeners = new Set<() => void>();
  let answer: Answer<T> = { data: undefined, failure: undefined, isLoading: false };
  let path: string | null = null;
  /** What `answer.data` answers. */
  let answered: string | undefined;
  let inFlight: AbortController | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let cancelPlanned: (() => void) | undefined;
  let cancelNext = (): void => undefined;

  const setAnswer = (next: Answer<T>): void => {
    answer = next;
    for (const listener of listeners) listener();
  };

  const cancelReload = (): void => {
    cancelPlanned?.();
    cancelPlanned = undefined;
    cancelNext();
  };

  const read = async (asked: string): Promise<void> => {
    inFlight?.abort();
    const controller = new AbortController();
    inFlight = controller;
    cancelReload();
    readAt = timers.now();
    try {
      const data = await deps.api.get<T>(asked, controller.signal);
      if (inFlight !== controller) return;
      answered = asked;
      setAnswer({ data: shareStructure(answer.data, data), failure: undefined, isLoading: false });
    } catch (error) {
      if (inFlight !== controller || isAborted(error)) return;
      // Data of another path must not be shown with this error.
      const data = answered === asked ? answer.data : undefined;
      setAnswer({ data, failure: asFailure(error), isLoading: false });
    } finally {
      if (inFlight === controller) {
        inFlight = undefined;
        cancelNext = scheduleNext();
      }
    }
  };

  const scheduleNext = (): (() => void) => {
    const { pollMs } = policy;
    if (pollMs === undefined) return () => undefined;
    return timers.after(typeof pollMs === "number" ? pollMs : pollMs(answer.data), reload);
  };

  const reload = (): void => {
    if (path !== null) void read(path);
  };

  /** One reading after the last change, and never more often than every `restMs`. */
  const scheduleReload = (): void => {
    if (cancelPlanned !== undefined) return;
    const waitMs = Math.max(0, readAt + restMs - timers.now());
    cancelPlanned = timers.after(waitMs, () => {
      cancelPlanned = undefined;
      reload();
    });
  };

  const handleUpdate = (update: LiveUpdate): void => {
    if (path === null) return;
    if (update.kind === "reload") return reload();
    if (answer.data !== undefined && policy.patch !== undefined) {
      const patched = shareStructure(answer.data, policy.patch(answer.data, update.changes));
      if (patched !== answer.data) setAnswer({ ...answer, data: patched });
    }
    if (update.changes.more || policy.isAffectedBy?.(update.changes) === true) scheduleReload();
    return undefined;
  };
  const unsubscribe = deps.live.onUpdate(handleUpdate);

  return {
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    snapshot: () => answer,
    load: (next) => {
      if (next === path) return;
      path = next;
      if (next === null) return;
      setAnswer({ ...answer, failure: undefined, isLoading: true });
      void read(next);
    },
    reload,
    stop: () => {
      unsubscribe();
      cancelReload();
      inFlight?.abort();
      inFlight = undefined;
    },
  };
}

function asFailure(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError(error instanceof Error ? error.message : String(error), {
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
