import type { JsonObject } from "../json.ts";

/** A refusal as Kubernetes words it; `status` is the body of the reply. */
export class StatusError extends Error {
  override readonly name = "StatusError";
  readonly status: JsonObject;
  readonly code: number;

  constructor(code: number, status: JsonObject) {
    const message = status["message"];
    super(typeof message === "string" ? message : "");
    this.code = code;
    this.status = status;
  }
}
