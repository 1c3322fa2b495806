import { type KnownResource, perKnownResource } from "@resource-broker/base";
import * as t from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";

const BYTES = t.integer(-Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
const PIECES = t.number(-1e15, 1e15);

function amount({ title, form }: KnownResource) {
  return form.isBytes
    ? t.optional(BYTES, `${title}, in bytes. Absent: none.`)
    : t.optional(PIECES, `${title}. Absent: none.`);
}

/** Sums and series are numbers in base units: they are computed with, not applied. */
export const amountsSchema = t.message("AmountsDTO", "Amounts in base units.", {
  ...perKnownResource(amount),
  cpu: t.required(PIECES, "Cores.", 4),
  memory: t.required(BYTES, "Bytes.", 8_589_934_592),
  gpu: t.required(PIECES, "Pieces.", 0),
});
export type AmountsDTO = Infer<typeof amountsSchema>;
