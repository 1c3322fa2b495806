import type { Reply } from "../../ledger/command.ts";
import { cluster, request } from "../../testing/builders.ts";
import { isLive } from "../../reservation/lifecycle.ts";
import type { Reservation } from "../../reservation/reservation.ts";
import { DEFAULT_POLICY, type Policy } from "../../scheduling/policy.ts";
import { HOUR_MS, openWorld, type World } from "../../testing/world.ts";
import type { Tier } from "../../cost/cost-model.ts";
import type { Waiting } from "../waiting.ts";

/** paris lends 16 CPU and 64Gi; nothing else does. */
export function openQueue(policy: Parameters<typeof openWorld>[0] = {}): World {
  const world = openWorld(policy);
  world.advertise(cluster("paris"));
  return world;
}

let made = 0;

export interface Ask {
  readonly cpu?: number;
  readonly priority?: number;
  readonly forMs?: number;
  readonly durationMs?: number;
  readonly namespace?: string;
  readonly tier?: Tier;
  readonly resumes?: string;
}

export function ask(world: World, requester: string, key: string, more: Ask = {}): Reply {
  const {
    cpu = 16,
    priority = 0,
    forMs = HOUR_MS,
    durationMs,
    namespace,
    tier = "on-demand",
    resumes,
  } = more;
  return world.reply({
    kind: "reserve",
    requester,
    key,
    request: request(
      { cpu, memoryGi: 1 },
      { priority, tier, ...(durationMs === undefined ? {} : { durationMs }) },
    ),
    wait: { forMs },
    ...(namespace === undefined ? {} : { namespace }),
    ...(resumes === undefined ? {} : { resumes }),
    protocol: 3,
    reservationId: `rsv-${requester}-${key}`,
    decisionId: `dec-${++made}`,
  });
}

export function queue(world: World, requester: string, key: string, more: Ask = {}): Waiting {
  const reply = ask(world, requester, key, more);
  if (reply.kind === "waiting") return reply.waiting;
  throw new Error(`expected to wait, got ${JSON.stringify(reply)}`);
}

/** Admits until nothing more fits; the ids in the order of their grants. */
export function admit(world: World): string[] {
  const granted: string[] = [];
  for (;;) {
    const reply = world.reply({ kind: "admit", decisionId: `dec-${++made}` });
    if (reply.kind !== "admitted") throw new Error(`expected an admission, got ${reply.kind}`);
    if (reply.granted !== undefined) granted.push(reply.granted.id);
    if (!reply.hasMore) return granted;
  }
}

/** Time passes, and all clusters are heard. */
export function pass(world: World, ms: number): void {
  world.now += ms;
  for (const { clusterId, advertisement } of world.ledger.accounts.values())
    world.advertise(advertisement ?? cluster(clusterId, { cpu: 0, memoryGi: 0 }));
  world.run({ kind: "expire-due" });
}

/** Reservations of spot and of lower priorities give way. paris lends 16 CPU; rome and oslo know of notices. */
export function openMarket(preemption: Partial<Policy["preemption"]> = {}): World {
  const { preemption: usual } = DEFAULT_POLICY;
  const world = openQueue({
    preemption: { ...usual, victims: "lower-priority", maxUnderNotice: 1, ...preemption },
  });
  for (const name of ["rome", "oslo"])
    world.advertise(cluster(name, { cpu: 0, memoryGi: 0, more: { protocol: 3 } }));
  return world;
}

/** A reservation that nobody waits for. */
export function hold(world: World, requester: string, key: string, more: Ask = {}): Reservation {
  const reply = ask(world, requester, key, more);
  if (reply.kind === "granted") return reply.reservation;
  throw new Error(`expected a grant, got ${JSON.stringify(reply)}`);
}

/** The reservations under notice. */
export function underNotice({ ledger }: World): string[] {
  return [...ledger.reservations.values()]
    .filter(({ preemption, phase }) => preemption !== undefined && isLive(phase))
    .map(({ id }) => id);
}
