import { Fault } from "@resource-broker/base";
import { LIMIT } from "@resource-broker/contract";
import { CONFIG_MAPS, NAMESPACES } from "@resource-broker/kube";
import { generateIdentityKey } from "@resource-broker/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { aReservation } from "../../testing/samples.ts";
import { IDENTITIES, TENANTS } from "../objects.ts";
import { signStatement } from "./statement.ts";
import { LENT, type RelayPair, relayPair } from "./testing/relay-pair.ts";
import { PARIS, ROME, theParts } from "./testing/relay-samples.ts";

let pair: RelayPair;
beforeEach(() => {
  pair = relayPair();
});
afterEach(() => pair.stop());

const nameOf = (clusterId: string) => ({ name: `rear-peer-${clusterId}`, namespace: "rear-agent" });
const pinOf = (side: RelayPair["rome"], clusterId: string) =>
  side.cluster.find(CONFIG_MAPS, nameOf(clusterId))?.data;
const messagesOf = (side: RelayPair["rome"]): string => side.events.map(({ message }) => message).join("\n");
const WANTS = { requester: { wants: true } };

describe("a statement", () => {
  test("has no effect while its pin cannot be written", async () => {
    pair.paris.cluster.setCallFaults(({ verb, plural }) =>
      plural === "configmaps" && ["create", "update"].includes(verb)
        ? { fault: new Fault("overloaded", "try again") }
        : undefined,
    );
    pair.reserve();
    await pair.untilPeered(30_000);
    expect(pair.paris.cluster.find(NAMESPACES, { name: "liqo-tenant-cool-rome" })).toBe(undefined);
    pair.paris.cluster.setCallFaults(undefined);
    expect(await pair.untilPeered()).toMatchObject({ reason: "SliceCreated" });
  });

  test("that counts ends what was wrong with another one, also when it says nothing new", async () => {
    pair.reserve();
    await pair.untilPeered();
    const last = pair.broker.history.findLast(({ from }) => from === "paris")?.jws ?? expect.fail();
    const forged = signStatement(PARIS, pair.rome.identity, theParts({ to: ROME, now: pair.time.wallMs() }));
    pair.rome.plane().onStatement?.("paris", `${forged.slice(0, -20)}${"A".repeat(20)}`);
    await pair.run(1000);
    expect(messagesOf(pair.rome)).toContain("StatementForged");
    pair.mute("paris");
    pair.rome.plane().onStatement?.("paris", last);
    await pair.run(1000);
    const name = { name: "controlplane-calm-paris", namespace: "liqo-tenant-calm-paris" };
    pair.rome.cluster.remove(IDENTITIES, name);
    await pair.run(1000);
    await pair.untilPeered();
    expect(pair.rome.cluster.all(IDENTITIES)).toHaveLength(1);
  });

  test("of a new peer is heard, however many others were heard before", async () => {
    for (let number = 0; number < 2 * LIMIT.statementsPerCluster; number++)
      pair.paris.plane().onStatement?.(`c${number}`, "no statement");
    await pair.run(1000);
    pair.rome.cache.update("requester", LENT);
    await pair.untilPeered(3000);
    // The reservation may come after the statement.
    pair.paris.cache.update("provider", LENT);
    await pair.run(1000);
    expect(pinOf(pair.paris, "rome")?.["key"]).toBe(pair.rome.identity.key.id);
  });
});

describe("a lost pin beside a live peering", () => {
  beforeEach(async () => {
    pair.reserve();
    await pair.untilPeered();
  });
  /** Whoever holds the fleet's authority says so, with a key of its own. */
  const stranger = (clusterId: string) => ({
    ...pair.fleet.identityOf(clusterId),
    key: generateIdentityKey(),
  });

  test("is no first contact for the provider, whatever Liqo ID is claimed", async () => {
    pair.mute("rome");
    pair.paris.cluster.remove(CONFIG_MAPS, nameOf("rome"));
    const own = { clusterId: "rome", liqoId: "evil-rome" };
    pair.say(WANTS, { own, identity: stranger("rome") });
    await pair.run(3000);
    expect(pinOf(pair.paris, "rome")?.["key"]).toBe(undefined);
    expect(messagesOf(pair.paris)).toContain("PeerPinLost");
    expect(pair.paris.cluster.all(TENANTS)).toHaveLength(1);
  });

  test.each(["calm-paris", "evil-paris"])("is none for the requester, if %s is claimed", async (liqoId) => {
    pair.mute("paris");
    pair.rome.cluster.remove(CONFIG_MAPS, nameOf("paris"));
    const [now, generation] = [pair.time.wallMs(), pair.time.wallMs()];
    const own = { clusterId: "paris", liqoId };
    const jws = signStatement(own, stranger("paris"), theParts({ to: ROME, now, generation }));
    pair.rome.plane().onStatement?.("paris", jws);
    await pair.run(3000);
    expect(pinOf(pair.rome, "paris")?.["key"]).toBe(undefined);
    expect(messagesOf(pair.rome)).toContain("PeerPinLost");
    expect(messagesOf(pair.rome)).toContain("kubectl patch configmap");
    expect(messagesOf(pair.rome)).not.toContain("kubectl create configmap");
    expect(pair.rome.cluster.all(IDENTITIES)).toHaveLength(1);
  });
});

test("a Liqo ID is pinned for one of two clusters that claim it at the same time", async () => {
  const ids = ["rome", "oslo"];
  for (const id of ids)
    pair.paris.cache.update("provider", aReservation({ id: `rsv-${id}-1`, requesterID: id }));
  pair.paris.plane();
  await pair.run(1000);
  for (const clusterId of ids) {
    const own = { clusterId, liqoId: "cool-rome" };
    pair.say(WANTS, { own, identity: pair.fleet.identityOf(clusterId) });
  }
  await pair.run(3000);
  expect(ids.filter((id) => pinOf(pair.paris, id)?.["liqoID"] === "cool-rome")).toHaveLength(1);
});

test("two agents that were started anew hear each other, though the broker's clock was ahead before", async () => {
  pair.reserve();
  await pair.untilPeered();
  const ahead = String(pair.time.wallMs() + 24 * 3_600_000);
  for (const [side, peer] of [
    [pair.paris, "rome"],
    [pair.rome, "paris"],
  ] as const)
    side.cluster.edit(CONFIG_MAPS, nameOf(peer), (it) => ({
      ...it,
      data: { ...it.data, generation: ahead },
    }));
  await pair.rome.restart();
  await pair.paris.restart();
  await pair.run(60_000);
  expect(Number(pinOf(pair.paris, "rome")?.["generation"])).toBeGreaterThan(Number(ahead));
  expect(Number(pinOf(pair.rome, "paris")?.["generation"])).toBeGreaterThan(Number(ahead));
});
