import { safeText, truncate } from "./text/safe-text.ts";

/** What a code means to a caller. */
export interface FaultKind {
  /** HTTP status of the reply. */
  readonly status: number;
  /** True: the same request may succeed later, unchanged. Nothing was reserved. */
  readonly retry: boolean;
  /** What the user should do. */
  readonly advice: string;
}

/** Every code on the wire. A code is part of the wire: it may be added, never renamed. */
export const FAULTS = {
  malformed: {
    status: 400,
    retry: false,
    advice: "Send a JSON object in UTF-8; the message says where reading stopped.",
  },
  invalid: {
    status: 400,
    retry: false,
    advice: "Correct the fields named in the message, for example cpu: 500m, memory: 8Gi, duration: 1h30m.",
  },
  "no-certificate": {
    status: 401,
    retry: false,
    advice: "Call with a client certificate of the broker's CA: brokerctl certs issue <cluster-id>.",
  },
  forbidden: {
    status: 403,
    retry: false,
    advice: "Use the certificate of the cluster the call is about, or an admin's.",
  },
  "not-found": {
    status: 404,
    retry: false,
    advice: "Check the name. Ended reservations are kept for at least 24 hours, then forgotten.",
  },
  "method-not-allowed": {
    status: 405,
    retry: false,
    advice: "Use one of the methods in the Allow header; /openapi.json lists every call.",
  },
  "no-capacity": {
    status: 409,
    retry: false,
    advice: "Ask for less, widen the constraints, or queue the request; reasons says why per cluster.",
  },
  superseded: {
    status: 409,
    retry: false,
    advice: "A newer process of the same agent has taken over: stop this one.",
  },
  "ledger-conflict": {
    status: 409,
    retry: true,
    advice: "The ledger holds something else under that name: read it and ask again.",
  },
  "already-ended": {
    status: 409,
    retry: false,
    advice: "The reservation is over; make a new one.",
  },
  "quota-exceeded": {
    status: 409,
    retry: false,
    advice: "Release something the cluster holds, or ask the broker's operator for a larger quota.",
  },
  "key-released": {
    status: 410,
    retry: false,
    advice: "The key was released before the request arrived; use a new Idempotency-Key.",
  },
  "too-large": {
    status: 413,
    retry: false,
    advice: "Send at most 256 KiB, or 1 MiB for an advertisement.",
  },
  "unsupported-media": {
    status: 415,
    retry: false,
    advice: "Send Content-Type: application/json, uncompressed.",
  },
  "key-mismatch": {
    status: 422,
    retry: false,
    advice: "The key already belongs to another request; use a new Idempotency-Key for this one.",
  },
  "not-yet": {
    status: 422,
    retry: false,
    advice: "Only reservations that start now are served: leave start out.",
  },
  "ttl-too-long": {
    status: 422,
    retry: false,
    advice: "Ask for a shorter duration, and renew it while you need it.",
  },
  "rate-limited": {
    status: 429,
    retry: true,
    advice: "Wait as long as Retry-After says.",
  },
  internal: {
    status: 500,
    retry: false,
    advice: "This is a bug: report it with the broker's log line of that time.",
  },
  "not-leader": {
    status: 503,
    retry: true,
    advice: "Another replica leads: ask again, or ask the next broker URL.",
  },
  overloaded: {
    status: 503,
    retry: true,
    advice: "Wait as long as Retry-After says. Nothing was booked.",
  },
  "store-unavailable": {
    status: 503,
    retry: true,
    advice:
      "The broker cannot write its store (disk full, database down). Nothing was booked; ask again later.",
  },
} as const satisfies Readonly<Record<string, FaultKind>>;

/** Codes of faults found locally when calling another server; never sent by the broker. */
const LOCAL_FAULTS = {
  unauthenticated: {
    status: 401,
    retry: false,
    advice: "The API server refused the credentials: renew them in the kubeconfig.",
  },
  conflict: {
    status: 409,
    retry: true,
    advice: "The object was changed by another client: read it again and retry.",
  },
  "already-exists": {
    status: 409,
    retry: false,
    advice: "There is an object of that name already: read it, or choose another name.",
  },
  gone: {
    status: 410,
    retry: true,
    advice: "The API server no longer has this version: list again.",
  },
  unsupported: {
    status: 501,
    retry: false,
    advice: "The peer is too old for this call: upgrade it.",
  },
  unreachable: {
    status: 503,
    retry: true,
    advice: "No reply: check address, network and certificates. It is unknown whether the call arrived.",
  },
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

/** The only error class: every intentional error has a code of the table. */
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
