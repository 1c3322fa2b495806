import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readFault } from "../mapping/fault.ts";
import type { Schema } from "../schema/node.ts";
import { validate } from "../schema/validate.ts";
import { advertisementReplySchema } from "./advertisement.ts";
import { reservationListSchema, reservationSchema } from "./reservation.ts";

interface GoBrokerReplies {
  readonly replies: readonly { name: string; schema: string; body: unknown; value: unknown }[];
  readonly errors: readonly { name: string; status: number; text: string; code: string; message: string }[];
}

// What a Go agent sends and is answered is compared in packages/broker/src/interface/http/golden.test.ts.
describe("our agent reads what a Go broker says", () => {
  const { replies, errors } = golden<GoBrokerReplies>("go-broker-replies");
  const schemas: Readonly<Record<string, Schema<unknown>>> = {
    ReservationDTO: reservationSchema,
    ReservationListDTO: reservationListSchema,
    AdvertisementReplyDTO: advertisementReplySchema,
  };

  test.each(replies.map((reply) => [reply.name, reply] as const))("%s", (_, { schema, body, value }) => {
    const known = schemas[schema];
    if (known === undefined) throw new Error(`unknown schema ${schema}`);
    expect(validate(known, body)).toEqual({ ok: true, value });
  });

  test.each(errors.map((error) => [error.name, error] as const))(
    "error: %s",
    (_, { status, text, code, message }) => {
      expect(readFault({ status, body: text })).toMatchObject({ code, message });
    },
  );
});

function golden<T>(name: string): T {
  const file = new URL(`../../golden/wire/${name}.json`, import.meta.url);
  // The golden files are ours: their shape is what the interfaces above say.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- files of our own
  return JSON.parse(readFileSync(file, "utf8")) as T;
}
