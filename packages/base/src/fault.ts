import { safeText, truncate } from "./text/safe-text.ts";

/** What a code means to a caller. */
export interface FaultKind {
  /** HTTP status of the reply. */
  readonly status: number;
  /** True: the same request may succeed later, unchanged. Nothing was reserved; with `unreachable` that is unknown. */
  readonly retry: boolean;
  /** What the user should do. */
  readonly advice: string;
}

/** Repeating the same request at once does not help. */
function lasting(status: number, advice: string): FaultKind {
  return { status, retry: false, advice };
}

/** The same request may succeed later. */
function passing(status: number, advice: string): FaultKind {
  return { status, retry: true, advice };
}

/** Every code on the wire. A code is part of the wire: it may be added, never renamed. */
export const FAULTS = {
  malformed: lasting(400, "Send a JSON object in UTF-8; the message says where reading stopped."),
  invalid: lasting(
    400,
    "Correct the fields named in the message, for example cpu: 500m, memory: 8Gi, duration: 1h30m.",
  ),
  "no-certificate": lasting(
    401,
    "Call with a client certificate of the broker's CA: brokerctl certs issue <cluster-id>.",
  ),
  forbidden: lasting(403, "Use the certificate of the cluster the call is about, or an admin's."),
  "wrong-instance": lasting(
    403,
    "The cluster ID belongs to another agent, or was evicted: an admin runs brokerctl get members and brokerctl invite --replace.",
  ),
  "not-found": lasting(
    404,
    "Check the name. Ended reservations are kept for at least 24 hours, then forgotten.",
  ),
  "method-not-allowed": lasting(
    405,
    "Use one of the methods in the Allow header; /openapi.json lists every call.",
  ),
  "no-capacity": lasting(
    409,
    "Ask for less, widen the constraints, or queue the request; reasons says why per cluster.",
  ),
  superseded: lasting(409, "A newer process of the same agent has taken over: stop this one."),
  "liqo-id-taken": lasting(
    409,
    "Another cluster has this Liqo cluster ID: install Liqo with another --cluster-id, or evict the other cluster if it is gone.",
  ),
  "ledger-conflict": passing(409, "The ledger holds something else under that name: read it and ask again."),
  "already-ended": lasting(409, "The reservation is over; make a new one."),
  "quota-exceeded": lasting(
    409,
    "Release something the cluster holds, or ask the broker's operator for a larger quota.",
  ),
  "key-released": lasting(410, "The key was released before the request arrived; use a new Idempotency-Key."),
  "too-large": lasting(413, "Send at most 256 KiB, or 1 MiB for an advertisement."),
  "unsupported-media": lasting(415, "Send Content-Type: application/json, uncompressed."),
  "key-mismatch": lasting(
    422,
    "The key already belongs to another request; use a new Idempotency-Key for this one.",
  ),
  "not-yet": lasting(422, "Only reservations that start now are served: leave start out."),
  "ttl-too-long": lasting(422, "Ask for a shorter duration, and renew it while you need it."),
  "priority-too-high": lasting(
    422,
    "Ask for a lower priority, or have the broker's operator raise the tenant's maxPriority.",
  ),
  "queue-full": passing(
    429,
    "As many requests wait as the policy allows: ask again later, or have the broker's operator raise the limit.",
  ),
  "rate-limited": passing(429, "Wait as long as Retry-After says."),
  internal: lasting(500, "This is a bug: report it with the broker's log line of that time."),
  "not-leader": passing(503, "Another replica leads: ask again, or ask the next broker URL."),
  overloaded: passing(503, "Wait as long as Retry-After says. Nothing was booked."),
  "store-unavailable": passing(
    503,
    "The broker cannot write its store (disk full, database down). Nothing was booked; ask again later.",
  ),
} as const satisfies Readonly<Record<string, FaultKind>>;

/** Codes of faults found locally when calling another server; never sent by the broker. */
const LOCAL_FAULTS = {
  unauthenticated: lasting(401, "The API server refused the credentials: renew them in the kubeconfig."),
  conflict: passing(409, "The object was changed by another client: read it again and retry."),
  "already-exists": lasting(409, "There is an object of that name already: read it, or choose another name."),
  gone: passing(410, "The API server no longer has this version: list again."),
  unsupported: lasting(501, "The peer is too old for this call: upgrade it."),
  unreachable: passing(
    503,
    "No reply: check address, network and certificates. It is unknown whether the call arrived.",
  ),
} as const satisfies Readonly<Record<string, FaultKind>>;

/** A code that is sent on the wire. */
export type WireFaultCode = keyof typeof FAULTS;
export type FaultCode = WireFaultCode | keyof typeof LOCAL_FAULTS;

function faultKind(code: FaultCode): FaultKind {
  return ALL_FAULTS[code];
}

const ALL_FAULTS: Readonly<Record<FaultCode, FaultKind>> = { ...FAULTS, ...LOCAL_FAULTS };

export function isFaultCode(text: string): text is WireFaultCode {
  return Object.hasOwn(FAULTS, text);
}

/** Details for the caller in addition to the message. `contract` adds what only the broker's replies contain. */
export interface FaultDetails {
  /** How long to wait before asking again. */
  readonly retryAfterMs?: number;
}

/** The error of every call between packages, with a code of the table. Other classes stay inside one package. */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly code: FaultCode;
  readonly details: FaultDetails;

  constructor(code: FaultCode, message: string, options: { cause?: unknown; details?: FaultDetails } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
  }

  get status(): number {
    return faultKind(this.code).status;
  }

  /** True: the same request may succeed later, unchanged. */
  get retry(): boolean {
    return faultKind(this.code).retry;
  }

  get advice(): string {
    return faultKind(this.code).advice;
  }
}

/** Converts any error to a fault. An error that is not a fault is a bug and gets the code internal. */
export function toFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new Fault("internal", message, { cause: error });
}

const MAX_MESSAGE_LENGTH = 65_536;

/** What every error reply contains. `cause` is not included: it is only logged. */
export function faultBody(fault: Fault): { readonly error: string; readonly code: FaultCode } {
  return { error: truncate(safeText(fault.message), MAX_MESSAGE_LENGTH), code: fault.code };
}
