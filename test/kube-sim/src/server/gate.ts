import type { Clock } from "@resource-broker/base";
import type { StatusError } from "../api/status-error.ts";
import { failure } from "../api/statuses.ts";
import type { FailNext } from "../kube-sim.ts";

/** Where requests wait or fail because a test wants them to. */
export interface Gate {
  /** Resolves when the request may be answered. */
  readonly pass: () => Promise<void>;
  readonly isPaused: () => boolean;
  /** Calls back at the next `resume`; the returned function takes it back. */
  readonly onResume: (action: () => void) => () => void;
  readonly failureFor: (action: Action) => PlannedFailure | undefined;
  readonly setLatency: (ms: number) => void;
  readonly failNext: (failure: FailNext) => void;
  readonly pause: () => void;
  readonly resume: () => void;
}

export interface Action {
  readonly verb: NonNullable<FailNext["verb"]>;
  readonly plural: string;
}

export interface PlannedFailure {
  readonly error: StatusError;
  readonly retryAfterSeconds?: number;
}

const REASONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  410: "Expired",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

export function createGate(clock: Clock): Gate {
  let latencyMs = 0;
  let paused = false;
  const waiting = new Set<() => void>();
  let planned: readonly FailNext[] = [];

  const whenResumed = (): Promise<void> =>
    new Promise((resolve) => {
      waiting.add(resolve);
    });
  const delay = (): Promise<void> =>
    new Promise((resolve) => {
      clock.after(latencyMs, resolve);
    });
  return {
    pass: async () => {
      if (latencyMs > 0) await delay();
      while (paused) await whenResumed();
    },
    isPaused: () => paused,
    onResume: (action) => {
      waiting.add(action);
      return () => void waiting.delete(action);
    },
    failureFor: (action) => {
      const hit = planned.find((one) => matches(one, action));
      if (hit === undefined) return undefined;
      planned = planned.flatMap((one) => (one === hit ? spent(one) : [one]));
      return plannedFailure(hit);
    },
    setLatency: (ms) => {
      latencyMs = ms;
    },
    failNext: (next) => {
      planned = [...planned, next];
    },
    pause: () => {
      paused = true;
    },
    resume: () => {
      paused = false;
      const actions = [...waiting];
      waiting.clear();
      for (const action of actions) action();
    },
  };
}

function matches({ verb, plural }: FailNext, action: Action): boolean {
  return (verb === undefined || verb === action.verb) && (plural === undefined || plural === action.plural);
}

function spent(one: FailNext): readonly FailNext[] {
  return one.times > 1 ? [{ ...one, times: one.times - 1 }] : [];
}

function plannedFailure({ status, reason, retryAfterSeconds }: FailNext): PlannedFailure {
  const error = failure(
    status,
    reason ?? REASONS[status] ?? "",
    "the simulated cluster was told to fail here",
  );
  return { error, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
}
