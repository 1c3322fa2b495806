import { Fault, type FaultCode, faultBody, isFaultCode, truncate, parseJson } from "@resource-broker/base";
import { fitToSchema } from "../schema/fit-to-schema.ts";
import { validate } from "../schema/validate.ts";
import { type ErrorDTO, errorSchema, type RefusalDTO } from "../wire/error.ts";
import { present } from "./present.ts";

declare module "@resource-broker/base" {
  interface FaultDetails {
    readonly reasons?: readonly RefusalDTO[];
    readonly decisionID?: string;
    /** The smallest change that would have made it fit. */
    readonly flip?: string;
  }
}

/** The body of an error reply. `cause` is not included: it is only logged. */
export function toErrorBody(fault: Fault): ErrorDTO {
  const { reasons, decisionID, flip } = fault.details;
  return fitToSchema(errorSchema, { ...faultBody(fault), ...present({ reasons, flip, decisionID }) });
}

/** An error reply as it came over the wire. */
export interface ErrorReply {
  readonly status: number;
  readonly body: string;
  /** From the Retry-After header. */
  readonly retryAfterMs?: number;
}

/** Code by HTTP status: older brokers send no code, and some errors as plain text. */
const CODE_BY_STATUS: Readonly<Record<number, FaultCode>> = {
  400: "invalid",
  401: "no-certificate",
  403: "forbidden",
  404: "not-found",
  405: "method-not-allowed",
  409: "no-capacity",
  410: "key-released",
  413: "too-large",
  415: "unsupported-media",
  422: "invalid",
  429: "rate-limited",
  503: "overloaded",
};
const MAX_TEXT_LENGTH = 1024;

/** Converts an error reply of any broker version to a fault. */
export function readFault(reply: ErrorReply): Fault {
  const body = readBody(reply.body);
  const { reasons, decisionID, flip } = body;
  const details = present({ reasons, flip, decisionID, retryAfterMs: reply.retryAfterMs });
  return new Fault(codeOf(body.code, reply.status), body.error, { details });
}

function readBody(text: string): ErrorDTO {
  const validated = validate(errorSchema, parseJson(text));
  if (validated.ok) return validated.value;
  return { error: truncate(text.trim(), MAX_TEXT_LENGTH) || "no reason given" };
}

function codeOf(code: string | undefined, status: number): FaultCode {
  if (code !== undefined && isFaultCode(code)) return code;
  return CODE_BY_STATUS[status] ?? "internal";
}
