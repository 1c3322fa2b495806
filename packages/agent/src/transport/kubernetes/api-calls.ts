import { type Clock, Fault, toFault } from "@resource-broker/base";
import { backoff, wait } from "@resource-broker/kube";

/** Between the tries of one call. */
const MAX_PAUSE_MS = 2_000;
const MAX_RETRY_AFTER_MS = 5_000;

interface ApiCallsDeps {
  /** Where the API server of the broker's cluster is. */
  readonly server: string;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
}

export type ApiCalls = ReturnType<typeof apiCalls>;

/** Calls to the broker's API server, each with a timeout. */
export function apiCalls({ server, clock, random }: ApiCallsDeps) {
  const closing = new AbortController();

  /**
   * Retries until it succeeds, is refused for good, or times out. Attempts must be idempotent, because an
   * answer may be lost.
   */
  const retry = async <T>(signal: AbortSignal, attempt: () => Promise<T>): Promise<T> => {
    const pauses = backoff({ maxMs: MAX_PAUSE_MS }, { random, ...clock });
    let last: Fault | undefined;
    for (;;) {
      if (signal.aborted) throw overdue(last);
      try {
        return await attempt();
      } catch (error) {
        const fault = toFault(error);
        if (signal.aborted) throw overdue(last);
        if (!fault.retry) throw fault;
        last = fault;
      }
      const leastMs = Math.min(last.details.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);
      await wait(Math.max(pauses.failed(), leastMs), { clock, signal });
    }
  };

  const overdue = (last: Fault | undefined): Fault => {
    if (closing.signal.aborted) return closed();
    return last === undefined
      ? new Fault("unreachable", `the API server of the broker's cluster (${server}) did not answer in time`)
      : apiServerFault(server, last);
  };

  return {
    /** Runs `work` with a signal that aborts at the timeout or on close. */
    within: async <T>(limitMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
      if (closing.signal.aborted) throw closed();
      const limit = new AbortController();
      const end = (): void => limit.abort();
      const cancel = clock.after(limitMs, end);
      closing.signal.addEventListener("abort", end);
      try {
        return await work(limit.signal);
      } catch (error) {
        throw closing.signal.aborted ? closed() : error;
      } finally {
        cancel();
        closing.signal.removeEventListener("abort", end);
      }
    },
    retry,
    close: () => closing.abort(),
  };
}

/** The API server is the problem, not the broker. A missing right keeps its code and remedy. */
export function apiServerFault(server: string, cause: Fault): Fault {
  const message = `the API server of the broker's cluster (${server}) cannot be used: ${cause.message}`;
  return new Fault(cause.retry ? "unreachable" : cause.code, message, { cause, details: cause.details });
}

/** The Go broker's CRD of ClusterAdvertisements requires a field that only the broker may set here. */
const GO_REQUIRES = "spec.resources.available";

/** The Go broker cannot be used through objects: it has no Lease, ignores keys and writes no answers into the status. */
export const NO_GO_BROKER = "a Go broker cannot be used through objects: use --broker-transport=http";

/** A write without a target: the namespace or the CRD is missing, or the CRD is an older broker's. */
export function withRemedy(fault: Fault, namespace: string): Fault {
  if (fault.code === "invalid" && fault.message.includes(GO_REQUIRES)) {
    const kind = "the definition of ClusterAdvertisements there is an older broker's";
    return new Fault("unsupported", `${kind}; ${NO_GO_BROKER}, or install our broker there`, {
      cause: fault,
    });
  }
  if (fault.code !== "not-found") return fault;
  return new Fault(
    "unreachable",
    `${fault.message}: is --broker-namespace=${namespace} right, and are the broker's CRDs installed there?`,
    { cause: fault },
  );
}

function closed(): Fault {
  return new Fault("unreachable", "the connection to the broker is closed");
}
