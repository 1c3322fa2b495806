import { type Clock, type Fault, toFault } from "@resource-broker/base";
import { type ObjectCache, type ReconcileResult, reconcileLoop } from "@resource-broker/kube";
import type { KindDeps } from "../ports.ts";
import { type BrokerObject, type Step, stepName } from "./desired-object.ts";
import { assumeCache, objectWriter, type PerformWrite, type WriterOptions } from "./object-writer.ts";
import { isServerFault } from "./rate-limiter.ts";

/** Requests that come together are decided in one commit. */
const CONCURRENCY = 18;
/** How many objects may be in the middle of showing the ledger, so that answers never wait behind views. */
const VIEWS_AT_ONCE = 2;
/** If the same step is planned twice in one reconcile: it had no effect yet. */
const REPEATED_STEP_RETRY_MS = 1000;
/** The watch delivers the newer object soon. */
const CONFLICT_RETRY_MS = 200;
/** While the server is unavailable; the rate limiter decides when to probe. */
const UNAVAILABLE_RETRY_MS = 1000;

type Work<T extends BrokerObject, Call> = Exclude<Step<T, Call>, { readonly kind: "done" }>;

interface EngineCall {
  readonly kind: string;
  readonly name?: string;
}

/** One kind of object. */
export interface ControllerOptions<T extends BrokerObject, Call> extends WriterOptions<T> {
  /** What is reconciled, for people: "Reservation". */
  readonly name: string;
  /** What its views are for, in log lines: "showing reservations". */
  readonly what: string;
  readonly namespace: string;
  readonly known: ObjectCache<T>;
  /** What is kept of an own write, as the informer keeps it. */
  readonly trim: (object: T) => T;
  readonly plan: (name: string, object: T | undefined) => Step<T, Call>;
  readonly calls: (own: OwnObjects<T>) => CallEngine<T, Call>;
  /** The object is gone. */
  readonly onGone: (key: string, before: T | undefined) => void;
}

/** Calls the engine. Returns the object to go on with; undefined: a later event goes on. */
export type CallEngine<T extends BrokerObject, Call> = (object: T, call: Call) => Promise<T | undefined>;

/** What answers the objects. */
export interface OwnObjects<T extends BrokerObject> {
  readonly write: PerformWrite<T>;
  /** The server's answer to a read. */
  readonly assume: (object: T) => void;
}

export interface Controller {
  /** True if there is an object of this name, as far as is known. */
  readonly has: (name: string) => boolean;
  readonly enqueue: (name: string) => void;
  readonly enqueueAfter: (name: string, delayMs: number) => void;
  /** For many names at once: they are compared in small groups. */
  readonly enqueueSlowly: (name: string) => void;
  /** True while a view is being written or waits for it. */
  readonly isShowing: () => boolean;
  readonly stop: () => Promise<void>;
}

/**
 * Brings objects of one kind to what ledger and requests say: one work queue for answers and views, by name. Each reconcile
 * plans one step from object and ledger, performs it, and plans again until nothing is left.
 */
export function controller<T extends BrokerObject, Call extends EngineCall>(
  options: ControllerOptions<T, Call>,
  deps: KindDeps,
): Controller {
  const { namespace, known, plan } = options;
  const { isLeading, signal } = deps;
  const lane = deps.limiter.lane(options.what);
  const cache = assumeCache(known, options.trim);
  const write = objectWriter(options, { ...deps, cache, run: lane.run });
  const call = options.calls({ write: write.answer, assume: cache.assume });
  const find = (name: string): T | undefined => cache.get(`${namespace}/${name}`);
  const unsubscribe = known.listen((key, now, before) => {
    if (now !== undefined) return;
    write.forget(key);
    options.onGone(key, before);
  });
  /** Names that wait until they may show the ledger. */
  const waiting = new Set<string>();
  let showing = 0;

  const mayShow = (): boolean => showing < (lane.isFailing() ? 1 : VIEWS_AT_ONCE);
  /** False: the name waits until it may show the ledger. */
  const takeTurn = (name: string, turn: { isTaken: boolean }): boolean => {
    if (!turn.isTaken && mayShow()) {
      turn.isTaken = true;
      showing++;
    }
    if (!turn.isTaken && !signal.aborted) waiting.add(name);
    return turn.isTaken;
  };
  const perform = async (object: T | undefined, step: Work<T, Call>): Promise<T | undefined> => {
    if (step.kind === "call") return object && call(object, step.call);
    return write[step.kind](object, step.write);
  };

  const runSteps = async (name: string, turn: { isTaken: boolean }): Promise<ReconcileResult> => {
    const done = new Set<string>();
    let object = find(name);
    while (isLeading()) {
      const step = plan(name, object);
      if (step.kind === "done") return step;
      if (done.has(stepName(step))) return { requeueAfterMs: REPEATED_STEP_RETRY_MS };
      done.add(stepName(step));
      if (step.kind === "show" && !takeTurn(name, turn)) return {};
      const written = await perform(object, step);
      if (written === undefined) return {};
      object = find(name) ?? written;
    }
    return {};
  };

  const reconcile = async (name: string): Promise<ReconcileResult> => {
    const turn = { isTaken: false };
    try {
      return await runSteps(name, turn);
    } catch (error) {
      const fault = toFault(error);
      if (isWriteConflict(fault)) return { requeueAfterMs: CONFLICT_RETRY_MS };
      // The lane has logged it once for all objects.
      if (turn.isTaken && isServerFault(fault)) return { requeueAfterMs: UNAVAILABLE_RETRY_MS };
      throw fault;
    } finally {
      if (turn.isTaken) showing--;
      const [next] = waiting;
      if (next !== undefined && mayShow()) {
        waiting.delete(next);
        loop.enqueue(next);
      }
    }
  };
  const loop = reconcileLoop({ name: options.name, concurrency: CONCURRENCY, reconcile }, deps);
  const slowly = nameQueue(loop.enqueue, deps.clock);

  return {
    has: (name) => find(name) !== undefined,
    enqueue: loop.enqueue,
    enqueueAfter: loop.enqueueAfter,
    enqueueSlowly: slowly.add,
    isShowing: () => showing + waiting.size > 0,
    stop: async () => {
      slowly.stop();
      waiting.clear();
      await loop.stop();
      unsubscribe();
      cache.stop();
    },
  };
}

function isWriteConflict({ code }: Fault): boolean {
  return code === "conflict" || code === "already-exists";
}

/** Names are handled in small groups with pauses, so that a hundred thousand comparisons do not block the engine. */
const NAMES_PER_TURN = 100;
const PAUSE_MS = 5;

interface NameQueue {
  readonly add: (name: string) => void;
  readonly stop: () => void;
}

function nameQueue(handle: (name: string) => void, clock: Pick<Clock, "after">): NameQueue {
  const names = new Set<string>();
  let cancel: (() => void) | undefined;
  const drainSome = (): void => {
    let left = NAMES_PER_TURN;
    for (const name of names) {
      if (left-- === 0) break;
      names.delete(name);
      handle(name);
    }
    cancel = names.size === 0 ? undefined : clock.after(PAUSE_MS, drainSome);
  };
  return {
    add: (name) => {
      names.add(name);
      cancel ??= clock.after(0, drainSome);
    },
    stop: () => {
      cancel?.();
      cancel = () => undefined;
      names.clear();
    },
  };
}
