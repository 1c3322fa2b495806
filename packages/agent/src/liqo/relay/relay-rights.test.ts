import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "@resource-broker/base";
import { CONFIG_MAPS, SECRETS } from "@resource-broker/kube";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import type { KubeCall } from "../../testing/fake-cluster.ts";
import { TENANTS } from "../objects.ts";
import { type RelayPair, relayPair } from "./testing/relay-pair.ts";

interface Role {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly {
    readonly resources: readonly string[];
    readonly resourceNames?: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

const RBAC = join(import.meta.dirname, "../../../../../deploy/rbac");
const ROLES = ["agent-liqo.yaml", "agent-relay.yaml"]
  .flatMap((file) => parseAllDocuments(readFileSync(join(RBAC, file), "utf8")))
  .map((document) => document.toJS() as Role)
  .filter(({ rules }) => rules !== undefined);

/** Rights as `namespace verb resource/name`; `*`: in every namespace. */
function rightsOf(...names: readonly string[]): Set<string> {
  const roles = ROLES.filter(({ metadata }) => names.includes(metadata.name));
  expect(roles).toHaveLength(names.length);
  return new Set(
    roles.flatMap(({ metadata: { namespace = "*" }, rules = [] }) =>
      rules.flatMap(({ resources, resourceNames = [undefined], verbs }) =>
        resources.flatMap((resource) =>
          resourceNames.flatMap((name) =>
            verbs.map((verb) => `${namespace} ${verb} ${[resource, name].filter(Boolean).join("/")}`),
          ),
        ),
      ),
    ),
  );
}

/** Rights that allow a call, from the widest to the one that is written down for it. */
function rightsFor({ verb, plural, name, namespace }: KubeCall): string[] {
  const where = OWN_NAMESPACES.includes(namespace ?? "") ? ["*", namespace] : ["*"];
  const names = plural === "secrets" && verb !== "create" ? ["", `/${name}`] : [""];
  return where.flatMap((place) => names.map((each) => `${place} ${verb} ${plural}${each}`));
}
const OWN_NAMESPACES = ["liqo", "rear-agent"];

const RELAY = ["resource-broker-agent-relay-pins"];
const SIDES = {
  rome: {
    others: [
      "resource-broker-agent-liqo-borrow",
      "resource-broker-agent-liqo",
      "resource-broker-agent-liqo-marks",
    ],
    relay: [...RELAY, "resource-broker-agent-relay-requester", "resource-broker-agent-relay"],
  },
  paris: {
    others: ["resource-broker-agent-liqo-lend", "resource-broker-agent-liqo"],
    relay: [...RELAY, "resource-broker-agent-relay-provider"],
  },
} as const;
/** What every agent tries, and one that only borrows does without: agent-liqo.yaml says so. */
const TO_LEND = ["* watch resourceslices", "* list shadowpods"];

const PIN = { name: "rear-peer-rome", namespace: "rear-agent" };

let pair: RelayPair;
beforeEach(() => {
  pair = relayPair();
});
afterEach(() => pair.stop());

/** Answers as an API server does that knows no other roles. */
function limit(side: keyof typeof SIDES, taken?: string): void {
  const { others, relay } = SIDES[side];
  const rights = rightsOf(...others, ...relay);
  if (taken !== undefined) expect(rights.delete(taken)).toBe(true);
  pair[side].cluster.setCallFaults((call) => {
    if (rightsFor(call).some((right) => rights.has(right))) return undefined;
    return { fault: new Fault("forbidden", `${call.plural} is forbidden: cannot ${call.verb}`) };
  });
}

/** What the calls needed beside the other roles. */
function needed(side: keyof typeof SIDES): string[] {
  const others = rightsOf(...SIDES[side].others);
  const calls = pair[side].cluster.calls.map(rightsFor);
  const missing = calls.filter((rights) => !rights.some((right) => others.has(right)));
  return [...new Set(missing.map((rights) => rights.at(-1) ?? ""))]
    .filter((right) => side !== "rome" || !TO_LEND.includes(right))
    .sort();
}

describe("a cluster that only borrows, and one that only lends,", () => {
  test("peer, exchange a new nonce and end it with the shipped rights, and need each of them", async () => {
    limit("rome");
    limit("paris");
    pair.reserve();
    expect(await pair.untilPeered()).toMatchObject({ reason: "SliceCreated" });
    pair.paris.cluster.remove(SECRETS, { name: "liqo-nonce", namespace: "liqo-tenant-cool-rome" });
    await pair.run(70_000);
    pair.end();
    expect(await pair.release()).toEqual({ kind: "clean" });
    await pair.run(5000);
    expect(pair.paris.cluster.all(TENANTS)).toEqual([]);
    const shipped = (side: keyof typeof SIDES): string[] => [...rightsOf(...SIDES[side].relay)].sort();
    expect({ rome: needed("rome"), paris: needed("paris") }).toEqual({
      rome: shipped("rome"),
      paris: shipped("paris"),
    });
  });

  test("do not take a lost pin for a first contact where a right to look is missing", async () => {
    pair.reserve();
    await pair.untilPeered();
    pair.paris.cluster.remove(CONFIG_MAPS, PIN);
    limit("paris", "* list tenants");
    await pair.paris.restart();
    await pair.run(30_000);
    expect(pair.paris.cluster.find(CONFIG_MAPS, PIN)).toBe(undefined);
    expect(pair.paris.events).toMatchObject([
      {
        reason: "PeerRefused",
        message: expect.stringMatching(/^Forbidden: .*tenants.*cannot list.*agent-relay/),
      },
    ]);
    limit("paris");
    await pair.run(30_000);
    expect(pair.paris.events.at(-1)?.message).toMatch(/^PeerPinLost/);
  });
});
