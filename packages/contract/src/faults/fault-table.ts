/** What a code means to a caller. */
export interface FaultKind {
  /** HTTP status of the reply. */
  readonly status: number;
  /** True: the same request may succeed later, unchanged. Nothing was booked. */
  readonly retry: boolean;
  /** What the user should do. */
  readonly advice: string;
}

/** Every code there is. A code is part of the wire: it may be added, never renamed. */
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

export type FaultCode = keyof typeof FAULTS;

export function isFaultCode(text: string): text is FaultCode {
  return Object.hasOwn(FAULTS, text);
}
