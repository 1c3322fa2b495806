import { decodeHere } from "./decode-message.ts";
import { openEnvelope } from "./envelope.ts";
import type { MessageFields } from "./fields.ts";
import { type Cursor, cursorOver, malformed } from "./wire.ts";

/** A refusal, in the shape it has in JSON. */
export interface ProtobufStatus {
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
  readonly details?: {
    readonly name?: string;
    readonly group?: string;
    readonly kind?: string;
    readonly causes?: readonly {
      readonly reason?: string;
      readonly message?: string;
      readonly field?: string;
    }[];
    readonly retryAfterSeconds?: number;
  };
}

const CAUSE: MessageFields = {
  1: { name: "reason", kind: "string" },
  2: { name: "message", kind: "string", isUnique: true },
  3: { name: "field", kind: "string" },
};

const DETAILS: MessageFields = {
  1: { name: "name", kind: "string", isUnique: true },
  2: { name: "group", kind: "string" },
  3: { name: "kind", kind: "string" },
  4: { name: "causes", kind: { message: CAUSE }, isRepeated: true },
  5: { name: "retryAfterSeconds", kind: "int" },
};

const STATUS: MessageFields = {
  2: { name: "status", kind: "string" },
  3: { name: "message", kind: "string", isUnique: true },
  4: { name: "reason", kind: "string" },
  5: { name: "details", kind: { message: DETAILS } },
  6: { name: "code", kind: "int" },
};

/** Reads a refusal: the body of a reply that is no success. */
export function readStatus(bytes: Uint8Array): ProtobufStatus {
  return readStatusHere(cursorOver(bytes));
}

export function readStatusHere(cursor: Cursor): ProtobufStatus {
  const kind = openEnvelope(cursor);
  if (kind !== "Status")
    throw malformed(cursor, `there is a ${kind || "nameless kind"} where a Status should be`);
  return decodeHere(STATUS, cursor);
}
