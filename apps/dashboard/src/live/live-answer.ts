import { errorText, isRecord } from "@resource-broker/base";
import { type ApiClient, ApiError, isAborted } from "../net/api-client.ts";
import type { Timers } from "../time/clock.ts";
import { createListeners } from "./listeners.ts";
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
  /** How it is asked; absent: a GET of the path. */
  readonly ask?: (api: ApiClient, path: string, signal: AbortSignal) => Promise<T>;
  /** Time to wait before a new question is asked: it may be still in the making. */
  readonly pauseMs?: number;
  /** Reads again after this time, too: for what changes without an event. */
  readonly pollMs?: number | ((data: T | undefined) => number);
}

interface AnswerDeps {
  readonly api: ApiClient;
  readonly live: LiveConnection;
  readonly timers: Timers;
}

const DEFAULT_MIN_INTERVAL_MS = 250;

/** The answer to one question at a time, kept true. */
export function createLiveAnswer<T>({ api, live, timers }: AnswerDeps, policy: RefreshPolicy<T>) {
  const ask = policy.ask ?? ((_, path, signal) => api.get<T>(path, signal));
  const restMs = policy.minIntervalMs ?? DEFAULT_MIN_INTERVAL_MS;
  const listeners = createListeners();
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
    listeners.notify();
  };

  const cancelReload = (): void => {
    cancelPlanned?.();
    cancelPlanned = undefined;
    cancelNext();
  };

  const cancel = (): void => {
    cancelReload();
    inFlight?.abort();
    inFlight = undefined;
  };

  const read = async (asked: string): Promise<void> => {
    cancel();
    const controller = new AbortController();
    inFlight = controller;
    readAt = timers.now();
    try {
      const data = await ask(api, asked, controller.signal);
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

  const scheduleReload = (waitMs: number): void => {
    cancelPlanned ??= timers.after(waitMs, () => {
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
    // One reading after the last change, and never more often than every `restMs`.
    if (update.changes.more || policy.isAffectedBy?.(update.changes) === true)
      scheduleReload(Math.max(0, readAt + restMs - timers.now()));
    return undefined;
  };
  const unsubscribe = live.onUpdate(handleUpdate);

  return {
    subscribe: listeners.add,
    snapshot: (): Answer<T> => answer,
    /** Null: nothing is asked. */
    load: (next: string | null): void => {
      if (next === path) return;
      path = next;
      cancel();
      if (next === null) return;
      setAnswer({ ...answer, failure: undefined, isLoading: true });
      if (policy.pauseMs === undefined) reload();
      else scheduleReload(policy.pauseMs);
    },
    reload,
    stop: (): void => {
      unsubscribe();
      cancel();
    },
  };
}

function asFailure(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(errorText(error), 0);
}

/** The page with those of its items that changed; the same page when the changes are elsewhere, as most are. */
export function patchItems<Item, Page extends { readonly items: readonly Item[] }>(
  page: Page,
  changed: readonly Item[],
  idOf: (item: Item) => string,
): Page {
  const byId = new Map(changed.map((item) => [idOf(item), item]));
  if (!page.items.some((item) => byId.has(idOf(item)))) return page;
  return { ...page, items: page.items.map((item) => byId.get(idOf(item)) ?? item) };
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * The new value, with every part of the old one that did not change: components that were given such a part need not be
 * drawn again.
 */
export function shareStructure<T>(before: T | undefined, after: T): T {
  const kept = merged(before, after);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- equal in every part, so of the same type
  return kept as T;
}

function merged(before: unknown, after: unknown): unknown {
  if (Object.is(before, after)) return before;
  if (Array.isArray(before) && Array.isArray(after)) return mergedList(before, after);
  if (isRecord(before) && isRecord(after)) return mergedRecord(before, after);
  return after;
}

function mergedList(before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
  const byId = new Map(before.map((item) => [idOf(item), item]));
  const items = after.map((item, index) => merged(byId.get(idOf(item) ?? NO_ID) ?? before[index], item));
  const isSame = items.length === before.length && items.every((item, index) => item === before[index]);
  return isSame ? before : items;
}

const NO_ID = Symbol("no id");

/** Rows are found again by their ID, though they moved. */
function idOf(item: unknown): unknown {
  return isRecord(item) ? (item["id"] ?? item["clusterID"]) : undefined;
}

function mergedRecord(before: Fields, after: Fields): unknown {
  const keys = Object.keys(after);
  const entries = keys.map((key) => [key, merged(before[key], after[key])] as const);
  const isSame =
    keys.length === Object.keys(before).length && entries.every(([key, value]) => value === before[key]);
  return isSame ? before : Object.fromEntries(entries);
}
