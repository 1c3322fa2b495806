import { fitToSchema } from "../schema/fitted.ts";
import { type ErrorDTO, errorSchema, type RefusalDTO } from "../wire/error.ts";
import { type FaultCode, faultKind } from "./fault-table.ts";

/** Details for the caller in addition to the message. */
export interface FaultDetails {
  readonly reasons?: readonly RefusalDTO[];
  readonly decisionID?: string;
  /** The smallest change that would have made it fit. */
  readonly flip?: string;
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

/** The body of an error reply. `cause` is not included: it is only logged. */
export function toErrorBody(fault: Fault): ErrorDTO {
  const { reasons, decisionID, flip } = fault.details;
  return fitToSchema(errorSchema, {
    error: fault.message,
    code: fault.code,
    ...(reasons === undefined ? {} : { reasons }),
    ...(flip === undefined ? {} : { flip }),
    ...(decisionID === undefined ? {} : { decisionID }),
  });
}
