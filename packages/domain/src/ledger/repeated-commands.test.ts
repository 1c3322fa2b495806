import { describe, expect, test } from "vitest";
import { cluster, request, size } from "../testing/builders.ts";
import { accept, bind, enroll, evict, invite } from "../testing/member-commands.ts";
import { ADMIN, actor, HOUR_MS, openWorld, type World } from "../testing/world.ts";
import { initialAdoptionWindow } from "./adoption-window.ts";
import type { Command } from "./command.ts";

const ID = "rsv-rome-held";
const BY_KEY: Command = { kind: "release-by-key", requester: "rome", key: "held" };
const RESERVE: Command = {
  kind: "reserve",
  requester: "rome",
  key: "new",
  request: request(),
  reservationId: "rsv-rome-new",
  decisionId: "dec-new",
};
const RENEW: Command = { kind: "renew", by: actor("rome"), id: ID, durationMs: 2 * HOUR_MS };
const OFFER = {
  id: "rsv-rome-lost",
  requester: "rome",
  provider: "paris",
  granted: size({ cpu: 4, memoryGi: 8 }),
  phase: "Active",
  generation: 3,
  createdAt: 1,
} as const;

/** oslo waits for what rome has and gives back. */
const WAITING_THAT_FITS: readonly Command[] = [
  {
    kind: "reserve",
    requester: "oslo",
    request: request({ cpu: 64 }),
    key: "waits",
    wait: { forMs: 20 * HOUR_MS },
    reservationId: "rsv-oslo-waits",
    decisionId: "dec-w",
  },
  { kind: "release", by: actor("rome"), id: ID },
];

/** `before` makes the first time a change. */
type Row = { readonly name: string; readonly command: Command; readonly before?: readonly Command[] };

/** An opening of adoption counts from its own moment, so each is a change; an import happens once. */
const COMMANDS: Readonly<Record<Exclude<Command["kind"], "open-adoption" | "import">, readonly Row[]>> = {
  advertise: [
    {
      name: "the same advertisement",
      command: { kind: "advertise", advertisement: { ...cluster("oslo"), instance: "a", sequence: 7 } },
    },
  ],
  reserve: [{ name: "a request with its key", command: RESERVE }],
  admit: [
    { name: "an admission", before: WAITING_THAT_FITS, command: { kind: "admit", decisionId: "dec-0" } },
  ],
  activate: [{ name: "an activation", command: { kind: "activate", by: actor("rome"), id: ID } }],
  renew: [{ name: "a renewal at the same moment", command: RENEW }],
  release: [{ name: "a release", command: { kind: "release", by: actor("rome"), id: ID } }],
  "release-by-key": [
    { name: "a release by key", command: BY_KEY },
    {
      name: "a release by key of what has ended",
      before: [{ kind: "release", by: actor("rome"), id: ID }],
      command: BY_KEY,
    },
    {
      name: "a release of a key that made nothing",
      command: { kind: "release-by-key", requester: "rome", key: "unused" },
    },
    {
      name: "a release by an admin of a key that made nothing",
      command: { kind: "release-by-key", requester: "rome", by: ADMIN, key: "unused" },
    },
  ],
  acknowledge: [{ name: "an acknowledgement", command: { kind: "acknowledge", by: actor("paris"), id: ID } }],
  refuse: [
    { name: "a provider's refusal", command: { kind: "refuse", by: actor("paris"), id: ID, why: "no" } },
  ],
  "expire-due": [{ name: "a sweep", before: [BY_KEY], command: { kind: "expire-due" } }],
  cordon: [{ name: "a cordon", command: { kind: "cordon", by: ADMIN, clusterId: "paris", why: "disk" } }],
  drain: [
    {
      name: "a drain",
      before: [{ kind: "advertise", advertisement: cluster("rome", { more: { protocol: 3 } }) }],
      command: { kind: "drain", by: ADMIN, clusterId: "paris", why: "disk", graceMs: HOUR_MS },
    },
  ],
  uncordon: [
    {
      name: "an uncordon",
      before: [{ kind: "cordon", by: ADMIN, clusterId: "paris" }],
      command: { kind: "uncordon", by: ADMIN, clusterId: "paris" },
    },
  ],
  adopt: [{ name: "an adoption by an admin", command: { kind: "adopt", by: ADMIN, offer: OFFER } }],
  "close-adoption": [{ name: "a closing of adoption", command: { kind: "close-adoption", by: ADMIN } }],
  invite: [
    { name: "an invitation with its token", command: invite({ clusterId: "oslo" }) },
    { name: "an invitation in place of an agent", command: invite({ isReplacing: true }) },
  ],
  enroll: [
    {
      name: "an enrolment",
      before: [invite({ clusterId: "oslo" })],
      command: enroll({ clusterId: "oslo" }),
    },
    {
      name: "an enrolment that waits for an admin",
      before: [invite({ clusterId: "oslo", needsConfirmation: true })],
      command: enroll({ clusterId: "oslo" }),
    },
  ],
  accept: [
    {
      name: "an acceptance",
      before: [invite({ clusterId: "oslo", needsConfirmation: true }), enroll({ clusterId: "oslo" })],
      command: accept("A", "oslo"),
    },
  ],
  evict: [
    { name: "an eviction", command: evict() },
    {
      name: "an eviction that withdraws an invitation",
      before: [invite({ isReplacing: true })],
      command: evict(),
    },
  ],
  bind: [{ name: "the first call with an identity key", command: bind("A") }],
};

function openedWorld(): World {
  const world = openWorld();
  world.ledger.adoption = initialAdoptionWindow(world.now, "created");
  world.advertise(cluster("paris", { cpu: 64 }), cluster("rome"));
  world.grant("rome", request({}, { durationMs: HOUR_MS }), "held");
  return world;
}

describe("said twice, changes nothing the second time:", () => {
  test.each(Object.values(COMMANDS).flat())("$name", ({ command, before = [] }) => {
    const world = openedWorld();
    for (const earlier of before) world.run(earlier);
    // A sweep is no change of its own: what is due is.
    if (command.kind === "expire-due") world.now += 25 * HOUR_MS;
    expect(world.run(command).events).not.toEqual([]);
    // The clock moves on: a repetition that wrote would write something else each time.
    if (command.kind !== "renew") world.now += 1000;
    expect(world.run(command).events).toEqual([]);
  });
});
