import { tenantNamespaceOf } from "@resource-broker/agent/liqo";
import { CONFIG_MAPS, NAMESPACES } from "@resource-broker/kube";
import { outputOf, until } from "@resource-broker/testkit";
import { expect } from "vitest";
import { objectsIn, type Right, rightsIn, type Role, roleWith } from "../../real/testing/rights.ts";
import { ask, logSeen, release, TIMEOUT_MS, untilReady } from "./directions.ts";
import { listingsOf, untilSame } from "./listings.ts";
import { type Direction, directionOf, type RealLiqoWorld } from "./real-liqo-world.ts";

const SMALL = { requestedCPU: "2", requestedMemory: "4Gi" };
/** What no single reservation needs; packages/agent/src/liqo/relay/relay-rights.test.ts has them. */
const SELDOM: readonly string[] = ["update secrets liqo-signed-nonce"];
/** Of agent-liqo.yaml, agents in relay mode have no other roles. */
const OTHER_ROLES = ["-liqo-lend", "-liqo-borrow", "-liqo", "-liqo-marks"].map(
  (end) => `resource-broker-agent${end}`,
);

/** Elsewhere, ClusterRoles count. */
const ROLES_IN: readonly string[] = ["liqo", "rear-agent"];

/** One cluster of the pair, and what of the shipped rights it has. */
interface Side {
  readonly name: string;
  readonly rights: readonly Right[];
  readonly given: Right[];
  /** Lines of the agent's log that were written with other rights. */
  seen: number;
}

/**
 * Both agents begin without any right of agent-relay.yaml. Each one that an agent names in its log is given to it, until
 * the reservation is up, and until nothing is left of it: so every right is named when it is missing.
 */
export async function expectRightsNamed(world: RealLiqoWorld): Promise<void> {
  const direction = directionOf(world, "rome", "paris");
  await forgetPeers(direction);
  const before = await listingsOf(world);
  const all = rightsIn(await objectsIn("agent-relay.yaml"));
  const without = (role: string): Right[] => all.filter((right) => !right.role.metadata.name.endsWith(role));
  // A cluster that only borrows, and one that only lends.
  const sides = [sideOf("rome", without("-relay-provider")), sideOf("paris", without("-relay-requester"))];
  for (const { name } of sides) for (const role of rolesOf(all)) await give(world, name, roleWith(role, []));
  for (const side of sides) side.seen = (await world.agent(side.name).logLines()).length;
  try {
    await ask(direction, "entitled", SMALL);
    await whileGiving(world, sides, untilReady(direction, "entitled"));
    const upWith = sides.flatMap(({ given }) => given).length;
    await whileGiving(
      world,
      sides,
      release(direction, "entitled")
        .then(() => untilNoNamespace(direction))
        .then(() => untilSame(world, before)),
    );
    const given = sides.flatMap((side) => side.given.map(textOf));
    logSeen(`${upWith} rights were named until it was up, ${given.length} until it was gone`);
    const others = rightsIn(await objectsIn("agent-liqo.yaml")).filter(({ role }) =>
      OTHER_ROLES.includes(role.metadata.name),
    );
    const known = [...given, ...SELDOM, ...others.map(textOf)];
    expect(all.map(textOf).filter((right) => !known.includes(right))).toEqual([]);
  } finally {
    for (const { name } of sides) for (const role of rolesOf(all)) await give(world, name, role);
  }
}

/** The next contact is the first, also where a person has peered the clusters before: agents leave that namespace alone. */
async function forgetPeers({ requester, provider, at }: Direction): Promise<void> {
  for (const [cluster, side, peer] of [
    [requester, at.requester, at.provider],
    [provider, at.provider, at.requester],
  ] as const) {
    const pin = `rear-peer-${peer === at.provider ? provider.name : requester.name}`;
    await cluster.client.delete(CONFIG_MAPS, { name: pin, namespace: "rear-agent" });
    const args = ["delete", "namespace", tenantNamespaceOf(peer.liqoId), "--ignore-not-found"];
    outputOf(["kubectl", ...args], await side.plane.kubectl(args));
  }
}

/** The provider's, which is the last that it deletes. */
async function untilNoNamespace({ provider, at }: Direction): Promise<void> {
  const name = tenantNamespaceOf(at.requester.liqoId);
  await until(
    `${provider.name} has no namespace ${name}`,
    async () => ((await provider.client.find(NAMESPACES, { name })) === undefined ? true : undefined),
    TIMEOUT_MS,
  );
}

function sideOf(name: string, rights: readonly Right[]): Side {
  return { name, rights, given: [], seen: 0 };
}

function rolesOf(rights: readonly Right[]): Role[] {
  return [...new Map(rights.map(({ role }) => [role.metadata.name, role])).values()];
}

async function give({ liqo }: RealLiqoWorld, name: string, role: Role): Promise<void> {
  const args = ["apply", "--filename=-"];
  const result = await liqo.cluster(name).plane.kubectl(args, JSON.stringify(role));
  outputOf(["kubectl", ...args], result);
}

/** Gives what is named until the work is done. */
async function whileGiving(
  world: RealLiqoWorld,
  sides: readonly Side[],
  work: Promise<unknown>,
): Promise<void> {
  let isDone = false;
  const done = work.finally(() => (isDone = true));
  const giving = until(
    "the work is done",
    async () => {
      for (const side of sides) await giveNamed(world, side);
      return isDone || undefined;
    },
    TIMEOUT_MS,
  );
  await Promise.all([done, giving]);
}

/** The agent starts anew with what it has named: its pauses between two tries grow to minutes. */
async function giveNamed(world: RealLiqoWorld, side: Side): Promise<void> {
  const { kill, logLines, restart } = world.agent(side.name);
  const lines = (await logLines()).slice(side.seen);
  const right = side.rights.find(
    (each) => !side.given.includes(each) && lines.some((line) => isNamed(line, each)),
  );
  if (right === undefined) return;
  side.given.push(right);
  logSeen(`${side.name} may not ${textOf(right)}`);
  await kill("SIGKILL");
  const { role } = right;
  await give(
    world,
    side.name,
    roleWith(
      role,
      side.given.filter((each) => each.role === role),
    ),
  );
  side.seen = (await logLines()).length;
  await restart();
}

/** As faults name it: without the object's name, with the namespace of a Role. */
function isNamed(line: string, { role, verb, group, resource }: Right): boolean {
  const named = `may not ${verb} ${resource} (${group === "" ? "core group" : group})`;
  const [, after] = line.split(named);
  if (after === undefined) return false;
  const [, where] = /^ in namespace ([^:]+):/.exec(after) ?? [];
  return role.metadata.namespace === (ROLES_IN.includes(where ?? "") ? where : undefined);
}

function textOf({ verb, resource, objectName }: Right): string {
  return [verb, resource, ...(objectName === undefined ? [] : [objectName])].join(" ");
}
