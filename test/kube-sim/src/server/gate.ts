import { failure, type StatusError } from "../api/statuses.ts";
import type { FailNext } from "../kube-sim.ts";

/** Where requests wait or fail because a test wants them to. */
export interface Gate {
  /** Resolves when the request may be answered. */
  readonly pass: () => Promise<void>;
  readonly isPaused: () => boolean;
  /** Calls back at the next `resume`; the returned function takes it back. */
  readonly onResume: (action: () => void) => () => void;
  readonly failureFor: (action: Action) => PlannedFailure | undefined;
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

export function createGate(): Gate {
  let paused = false;
  const waiting = new Set<() => void>();
  let planned: readonly FailNext[] = [];

  return {
    pass: async () => {
      while (paused) await new Promise<void>((resolve) => void waiting.add(resolve));
    },
    isPaused: () => paused,
    onResume: (action) => {
      waiting.add(action);
      return () => void waiting.delete(action);
    },
    failureFor: (action) => {
      const hit = planned.find((one) => matches(one, action));
      if (hit === undefined) return undefined;
      planned = planned
        .map((one) => (one === hit ? { ...one, times: one.times - 1 } : one))
        .filter(({ times }) => times > 0);
      return plannedFailure(hit);
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

function plannedFailure({ status, reason, retryAfterSeconds }: FailNext): PlannedFailure {
  const why = "the simulated cluster was told to fail here";
  const error = failure(status, reason ?? REASONS[status] ?? "", why);
  return { error, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
}
