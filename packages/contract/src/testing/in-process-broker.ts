import { Fault } from "@resource-broker/base";
import {
  apply,
  type Command,
  DEFAULT_POLICY,
  decide,
  emptyLedger,
  headline,
  type Instant,
  type Ledger,
  type Reply,
} from "@resource-broker/domain";
import { fromAdvertisement, toAdvertisement } from "../mapping/advertisement.ts";
import { refusalDetails } from "../mapping/decision.ts";
import { toErrorBody } from "../mapping/fault.ts";
import { fromReservation } from "../mapping/reservation.ts";
import { toReservationRequest } from "../mapping/reservation-request.ts";
import type { Schema } from "../schema/node.ts";
import { describeProblems, type Problem } from "../schema/problem.ts";
import { validate } from "../schema/validate.ts";
import { advertisementSchema } from "../wire/advertisement.ts";
import { reservationRequestSchema } from "../wire/reservation-request.ts";

interface HttpReply {
  readonly status: number;
  readonly body: unknown;
}

type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** The broker without its server: JSON in, JSON out, by the real schemas, mappings and ledger. */
export interface InProcessBroker {
  readonly ledger: Ledger;
  readonly run: (command: Command, now: Instant) => Reply;
  /** What an agent without Agent-Protocol posts. */
  readonly advertise: (body: unknown, now: Instant) => HttpReply;
  readonly reserve: (
    body: unknown,
    call: { requester: string; id: string; decision: string; now: Instant },
  ) => HttpReply;
  readonly instructions: (provider: string) => HttpReply;
}

export function inProcessBroker(): InProcessBroker {
  const ledger = emptyLedger();
  const run: InProcessBroker["run"] = (command, now) => {
    const { events, reply } = decide(ledger, command, { now, policy: DEFAULT_POLICY });
    for (const event of events) apply(ledger, event);
    return reply;
  };
  return {
    ledger,
    run,
    advertise: (body, now) =>
      answer(() => {
        const advertisement = read(toAdvertisement(parse(advertisementSchema, body), 1));
        run({ kind: "advertise", advertisement }, now);
        const account = ledger.accounts.get(advertisement.clusterId);
        if (account === undefined) throw new Error("the ledger did not keep the advertisement");
        return { status: 200, body: { advertisement: fromAdvertisement(advertisement, account) } };
      }),
    reserve: (body, { requester, id, decision, now }) =>
      answer(() => {
        const request = read(toReservationRequest(parse(reservationRequestSchema, body)));
        const reply = run(
          { kind: "reserve", requester, request, reservationId: id, decisionId: decision },
          now,
        );
        if (reply.kind === "granted") {
          return { status: 201, body: fromReservation(reply.reservation, { role: "requester" }) };
        }
        if (reply.kind !== "refused") throw new Error(`unexpected reply ${reply.kind}`);
        throw new Fault("no-capacity", headline(reply.decision), {
          details: refusalDetails(reply.decision, "full"),
        });
      }),
    instructions: (provider) => {
      const mine = [...ledger.reservations.values()].filter(
        (reservation) => reservation.provider === provider,
      );
      const view = { role: "provider", isOlderAgent: true } as const;
      return { status: 200, body: mine.map((reservation) => fromReservation(reservation, view)) };
    },
  };
}

function answer(call: () => HttpReply): HttpReply {
  try {
    return call();
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { status: error.status, body: toErrorBody(error) };
  }
}

function parse<T>(schema: Schema<T>, body: unknown): T {
  return read(validate(schema, body));
}

function read<T>(result: Result<T>): T {
  if (!result.ok) throw new Fault("invalid", describeProblems(result.problems));
  return result.value;
}
