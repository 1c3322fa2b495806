import { readFileSync } from "node:fs";
import { Fault } from "@resource-broker/base";
import { SECRETS } from "@resource-broker/kube";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import type { KubeCall } from "../../testing/fake-cluster.ts";
import { type RelayPair, relayPair } from "./testing/relay-pair.ts";
import { aNonce } from "./testing/relay-samples.ts";

interface Rule {
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

interface Row {
  readonly side: "rome" | "paris";
  readonly role: string;
  readonly right: string;
  readonly verb: string;
  readonly plural: string;
  readonly name: string | undefined;
}

const FILE = new URL("../../../../../deploy/rbac/agent-relay.yaml", import.meta.url);
/** The cluster that only lends needs this; all others are the requester's. */
const OF_PROVIDER = "resource-broker-agent-relay-provider";
/** Lists of ConfigMaps are Liqo's too here; packages/agent/e2e/real-liqo has this one. */
const ELSEWHERE = "list configmaps";

const ROWS: readonly Row[] = parseAllDocuments(readFileSync(FILE, "utf8")).flatMap((document) => {
  const { metadata, rules = [] } = document.toJS() as {
    metadata: { name: string };
    rules?: readonly Rule[];
  };
  return rules.flatMap(({ resources, resourceNames = [undefined], verbs }) =>
    resources.flatMap((plural) =>
      resourceNames.flatMap((name) =>
        verbs.map((verb) => ({
          side: metadata.name === OF_PROVIDER ? ("paris" as const) : ("rome" as const),
          role: metadata.name,
          right: [verb, plural, name].filter((part) => part !== undefined).join(" "),
          verb,
          plural,
          name,
        })),
      ),
    ),
  );
});

let pair: RelayPair;
beforeEach(() => {
  pair = relayPair();
});
afterEach(() => pair.stop());

/** A peering from the first contact until nothing is left of it, with a second nonce on the way. */
async function live(): Promise<void> {
  pair.reserve();
  await pair.untilPeered();
  const nonce = { name: "liqo-nonce", namespace: "liqo-tenant-cool-rome" };
  const data = { nonce: Buffer.from(aNonce()).toString("base64") };
  if (pair.paris.cluster.find(SECRETS, nonce) !== undefined)
    pair.paris.cluster.edit(SECRETS, nonce, (secret) => ({ ...secret, data }));
  await pair.run(90_000);
  pair.end();
  await pair.release();
  await pair.run(5000);
}

function isOf({ verb, plural, name }: Row, call: KubeCall): boolean {
  const isPin = plural !== "configmaps" || call.name.startsWith("rear-peer-");
  return call.verb === verb && call.plural === plural && isPin && (name === undefined || call.name === name);
}

test.each(ROWS.filter(({ right }) => right !== ELSEWHERE))(
  "an agent of $side that may not $right says so ($role)",
  async (row) => {
    const named = `may not ${row.right}`;
    const { cluster, lines } = pair[row.side];
    cluster.setCallFaults((call) =>
      isOf(row, call) ? { fault: new Fault("forbidden", `user agent ${named}`) } : undefined,
    );
    await live();
    expect(lines.map(String).filter((line) => line.includes(named))).not.toEqual([]);
  },
);
