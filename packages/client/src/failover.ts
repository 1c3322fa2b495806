import { type Clock, Fault, type FaultCode, type Log } from "@resource-broker/base";
import type { Outcome } from "./attempts.ts";
import type { Endpoint, Endpoints } from "./endpoints.ts";
import { refusedCertificate } from "./reply.ts";

/** New calls earn retries and retries spend them: in a long outage retries add at most a tenth to the load. */
const EARNED_PER_CALL = 0.1;
const MAX_TOKENS = 10;
const CALL_TIMEOUT_MS = 30_000;
const MAX_ATTEMPTS = 3;
const FIRST_WAIT_MS = 250;
const RATE_LIMITED: FaultCode = "rate-limited";

/** Faults that another address, or a later attempt, may not have. All others are final. */
const RETRYABLE: ReadonlySet<FaultCode> = new Set([
  "unreachable",
  "not-leader",
  "overloaded",
  "store-unavailable",
]);

export interface Task<T> {
  /** Tries it at one address; never rejects. */
  readonly attempt: (endpoint: Endpoint, deadlineMs: number) => Promise<Outcome<T>>;
  /** False: once it may have arrived, it must not be sent again. */
  readonly isRepeatable: (endpoint: Endpoint) => boolean;
  /** True: after all addresses have failed, retry after a wait. */
  readonly retriesLater: boolean;
}

export interface FailoverDeps {
  readonly endpoints: Endpoints;
  readonly pauses: Sleeper;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly random: () => number;
  readonly log: Log;
}

type Failed = Extract<Outcome<never>, { kind: "failed" }>;

interface CallProgress {
  readonly deadlineMs: number;
  readonly tried: Set<Endpoint>;
  readonly faults: Map<Endpoint, Fault>;
  count: number;
}

/** Runs a task at the first address that can serve it; throws the Fault that says why none could. */
export function createFailover(deps: FailoverDeps): <T>(task: Task<T>) => Promise<T> {
  const { endpoints, pauses, clock, random, log } = deps;
  let tokens = MAX_TOKENS;

  const recordOutcome = (endpoint: Endpoint, outcome: Outcome<unknown>): void => {
    const { url } = endpoint;
    if (outcome.kind === "answered" || !RETRYABLE.has(outcome.fault.code)) {
      if (endpoints.succeeded(endpoint)) log.info({ broker: url.text }, "a broker is available again");
      return;
    }
    if (outcome.wasStale) return;
    const { fault } = outcome;
    if (endpoints.failed(endpoint, fault.details.retryAfterMs)) {
      log.warn({ broker: url.text, code: fault.code, problem: fault.message }, "a broker is not available");
    }
  };

  const isFinal = ({ fault, mayHaveArrived }: Failed, isRepeatable: boolean): boolean =>
    !(RETRYABLE.has(fault.code) || fault.code === RATE_LIMITED) || (mayHaveArrived && !isRepeatable);

  /** The wait before the next attempt; undefined: give up. */
  const waitBefore = (
    { fault }: Failed,
    { count, tried, deadlineMs }: CallProgress,
    retriesLater: boolean,
  ) => {
    if (count >= Math.max(MAX_ATTEMPTS, endpoints.size)) return undefined;
    if (fault.code !== RATE_LIMITED && endpoints.hasUntried(tried)) return 0;
    const waitMs = Math.max(random() * FIRST_WAIT_MS * 2 ** count, fault.details.retryAfterMs ?? 0);
    const isInTime = clock.monotonicMs() + waitMs < deadlineMs;
    if (!retriesLater || !isInTime || tokens < 1) return undefined;
    tokens -= 1;
    return waitMs;
  };

  return async (task) => {
    tokens = Math.min(MAX_TOKENS, tokens + EARNED_PER_CALL);
    const progress: CallProgress = {
      deadlineMs: clock.monotonicMs() + CALL_TIMEOUT_MS,
      tried: new Set(),
      faults: new Map(),
      count: 0,
    };
    for (;;) {
      const endpoint = endpoints.pick(progress.tried);
      progress.count += 1;
      const outcome = await task.attempt(endpoint, progress.deadlineMs);
      recordOutcome(endpoint, outcome);
      if (outcome.kind === "answered") return outcome.value;
      progress.faults.set(endpoint, outcome.fault);
      // The idle connection was closed, so the address may be tried again at once.
      if (!outcome.wasStale) progress.tried.add(endpoint);
      const isOver = isFinal(outcome, task.isRepeatable(endpoint));
      const waitMs = isOver ? undefined : waitBefore(outcome, progress, task.retriesLater);
      if (waitMs === undefined) throw summary(outcome.fault, progress.faults);
      if (waitMs > 0) {
        await pauses.sleep(waitMs);
        progress.tried.clear();
      }
    }
  };
}

/** When several addresses failed, each is named with its reason. */
function summary(last: Fault, faults: ReadonlyMap<Endpoint, Fault>): Fault {
  if (faults.size < 2 || !RETRYABLE.has(last.code)) return last;
  const messages = Array.from(faults, ([{ url }, { message }]) =>
    message.startsWith(url.text) ? message : `${url.text}: ${message}`,
  );
  // An address that is down must not hide that a certificate is refused at the others.
  const cause = [...faults.values()].find((fault) => refusedCertificate(fault) !== undefined) ?? last;
  return new Fault(last.code, messages.join("; "), { cause, details: last.details });
}

/** A sleep that can be interrupted. */
export interface Sleeper {
  /** Resolves after this time, or when the signal aborts or the client closes. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly close: () => void;
}

export function createSleeper(clock: Pick<Clock, "after">): Sleeper {
  const closing = new AbortController();

  const sleep: Sleeper["sleep"] = (ms, signal) =>
    new Promise((resolve) => {
      if (ms <= 0 || closing.signal.aborted || signal?.aborted === true) {
        resolve();
        return;
      }
      const end = (): void => {
        cancel();
        closing.signal.removeEventListener("abort", end);
        signal?.removeEventListener("abort", end);
        resolve();
      };
      const cancel = clock.after(ms, end);
      closing.signal.addEventListener("abort", end);
      signal?.addEventListener("abort", end);
    });

  return { sleep, close: () => closing.abort() };
}
