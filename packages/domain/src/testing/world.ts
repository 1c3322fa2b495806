import type { Advertisement } from "../advertisement/advertisement.ts";
import type { ClusterAccount } from "../ledger/account.ts";
import { apply } from "../ledger/apply.ts";
import type { Actor, Command, Outcome, Reply } from "../ledger/command.ts";
import { decide } from "../ledger/decide.ts";
import { emptyLedger, type Ledger } from "../ledger/ledger.ts";
import type { ClusterId, Instant, ReservationId } from "../reservation/ids.ts";
import type { Reservation, ReservationRequest } from "../reservation/reservation.ts";
import type { Decision } from "../scheduling/decision.ts";
import { DEFAULT_POLICY, type Policy } from "../scheduling/policy.ts";
import { NOON } from "./builders.ts";

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

/** A ledger with a clock that the test moves: commands are decided and applied at once. */
export interface World {
  readonly ledger: Ledger;
  now: Instant;
  /** The latest moment a command was run at. */
  readonly latest: Instant;
  policy: Policy;
  run: (command: Command) => Outcome;
  reply: (command: Command) => Reply;
  advertise: (...advertisements: readonly Advertisement[]) => void;
  reserve: (requester: ClusterId, request: ReservationRequest, key?: string) => Reply;
  /** Reserves and expects a grant. */
  grant: (requester: ClusterId, request: ReservationRequest, key?: string) => Reservation;
  /** Reserves and expects a refusal. */
  refusal: (requester: ClusterId, request: ReservationRequest) => Decision;
  account: (clusterId: ClusterId) => ClusterAccount;
  reservation: (id: ReservationId) => Reservation;
  /** Moves the clock and sweeps. */
  pass: (ms: number) => void;
}

export function actor(clusterId: ClusterId): Actor {
  return { clusterId, isAdmin: false };
}

export const ADMIN: Actor = { clusterId: "ops", isAdmin: true };

export function openWorld(policy: Partial<Policy> = {}): World {
  let count = 0;
  let latest = 0;
  const world: World = {
    ledger: emptyLedger(),
    now: NOON,
    get latest() {
      return latest;
    },
    policy: { ...DEFAULT_POLICY, ...policy },
    run: (command) => {
      latest = Math.max(latest, world.now);
      const outcome = decide(world.ledger, command, { now: world.now, policy: world.policy });
      for (const event of outcome.events) apply(world.ledger, event);
      return outcome;
    },
    reply: (command) => world.run(command).reply,
    advertise: (...advertisements) => {
      for (const advertisement of advertisements) world.run({ kind: "advertise", advertisement });
    },
    reserve: (requester, request, key) => {
      count++;
      const id = key === undefined ? `rsv-${requester}-${count}` : `rsv-${requester}-${key}`;
      const command = {
        kind: "reserve",
        requester,
        request,
        reservationId: id,
        decisionId: `dec-${count}`,
      } as const;
      return world.reply(key === undefined ? command : { ...command, key });
    },
    grant: (requester, request, key) => {
      const reply = world.reserve(requester, request, key);
      if (reply.kind === "granted") return reply.reservation;
      throw new Error(`expected a grant, got ${JSON.stringify(reply)}`);
    },
    refusal: (requester, request) => {
      const reply = world.reserve(requester, request);
      if (reply.kind === "refused") return reply.decision;
      throw new Error(`expected a refusal, got ${JSON.stringify(reply)}`);
    },
    account: (clusterId) => found(world.ledger.accounts.get(clusterId), clusterId),
    reservation: (id) => found(world.ledger.reservations.get(id), id),
    pass: (ms) => {
      world.now += ms;
      world.run({ kind: "expire-due" });
    },
  };
  return world;
}

function found<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new Error(`the ledger does not know ${name}`);
  return value;
}
