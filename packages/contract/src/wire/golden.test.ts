import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readFault } from "../mapping/fault.ts";
import type { Schema } from "../schema/node.ts";
import { validate } from "../schema/validate.ts";
import { inProcessBroker } from "../testing/in-process-broker.ts";
import { advertisementReplySchema } from "./advertisement.ts";
import { reservationListSchema, reservationSchema } from "./reservation.ts";

interface Exchange {
  readonly what: string;
  readonly request: { readonly body?: unknown };
  readonly reply: { readonly status: number; readonly body: unknown };
}

interface GoBrokerReplies {
  readonly replies: readonly { name: string; schema: string; body: unknown; value: unknown }[];
  readonly errors: readonly { name: string; status: number; text: string; code: string; message: string }[];
}

const TEN = Date.UTC(2026, 6, 1, 10);
const RESERVATION = "rsv-rome-aaaaaaaaaaaaaaaa";

describe("a Go agent talks to our broker", () => {
  const advertises = golden<Exchange>("go-agent-advertises");
  const reserves = golden<Exchange>("go-agent-reserves");
  const polls = golden<Exchange>("go-agent-polls-instructions");
  const isRefused = golden<Exchange>("go-agent-is-refused");
  const nonsense = golden<Exchange>("go-agent-writes-nonsense");

  test("one exchange after the other gives the fixed replies, byte for byte", () => {
    const broker = inProcessBroker();
    expectSame(broker.advertise(advertises.request.body, TEN), advertises);

    const call = { requester: "rome", id: RESERVATION, decision: "dec-1", now: TEN + 1000 };
    expectSame(broker.reserve(reserves.request.body, call), reserves);

    broker.run({ kind: "activate", by: { clusterId: "rome", isAdmin: false }, id: RESERVATION }, TEN + 2000);
    expectSame(broker.instructions("paris"), polls);

    expectSame(
      broker.reserve(isRefused.request.body, { ...call, id: "rsv-rome-b", decision: "dec-2" }),
      isRefused,
    );
    expectSame(
      broker.reserve(nonsense.request.body, { ...call, id: "rsv-rome-c", decision: "dec-3" }),
      nonsense,
    );
  });

  test("the reserved it echoes changes nothing in the ledger", () => {
    const broker = inProcessBroker();
    const body = structuredClone(advertises.request.body) as {
      resources: { reserved: object; available: object };
    };
    body.resources.reserved = { cpu: "15", memory: "60Gi" };
    body.resources.available = { cpu: "-3", memory: "0" };
    expectSame(broker.advertise(body, TEN), advertises);
  });
});

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

/** Also the order of the fields: what is fixed is fixed as bytes. */
function expectSame(reply: { status: number; body: unknown }, exchange: Exchange): void {
  expect(reply.status).toBe(exchange.reply.status);
  expect(JSON.stringify(reply.body, undefined, 2)).toBe(JSON.stringify(exchange.reply.body, undefined, 2));
}

function golden<T>(name: string): T {
  const file = new URL(`../../golden/wire/${name}.json`, import.meta.url);
  // The golden files are ours: their shape is what the interfaces above say.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- files of our own
  return JSON.parse(readFileSync(file, "utf8")) as T;
}
