import type { Reply } from "../../ledger/command.ts";
import { cluster, request } from "../../testing/builders.ts";
import { HOUR_MS, openWorld, type World } from "../../testing/world.ts";
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
}

export function ask(world: World, requester: string, key: string, more: Ask = {}): Reply {
  const { cpu = 16, priority = 0, forMs = HOUR_MS, durationMs, namespace } = more;
  return world.reply({
    kind: "reserve",
    requester,
    key,
    request: request({ cpu, memoryGi: 1 }, { priority, ...(durationMs === undefined ? {} : { durationMs }) }),
    wait: { forMs },
    ...(namespace === undefined ? {} : { namespace }),
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
