import { formatTime } from "@resource-broker/base";
import { toQuantities } from "@resource-broker/contract";
import { type ClusterAdvertisement, KUBE_LABEL } from "@resource-broker/contract/crd";
import type { AccountView, Advertisement } from "@resource-broker/domain";
import { cluster, size } from "@resource-broker/domain/testing";
import { describe, expect, test } from "vitest";
import { type Owner, type OwnershipCase, ownerOf } from "./advertisement-owner.ts";

const NONE = toQuantities(size({}));
const RESOURCES = { capacity: NONE, allocatable: NONE, allocated: NONE };

/** An object whose spec was stated at a second, and whose status answers for one. */
function object(
  statedAt: number,
  more: { label?: string; accepted?: number; refused?: number; at?: number } = {},
) {
  const { label, accepted, refused, at = 0 } = more;
  return {
    apiVersion: "v",
    kind: "k",
    metadata: { name: "paris-adv", ...(label === undefined ? {} : { labels: { [KUBE_LABEL.view]: label } }) },
    spec: { clusterID: "paris", resources: RESOURCES, timestamp: formatTime(statedAt) },
    status: {
      ...(accepted === undefined
        ? {}
        : { accepted: { timestamp: formatTime(accepted), at: formatTime(at) } }),
      ...(refused === undefined
        ? {}
        : { refused: { timestamp: formatTime(refused), code: "superseded", message: "" } }),
    },
  } satisfies ClusterAdvertisement;
}

/** A view: its status answers for what it shows, unless it was painted over since. */
const view = (statedAt: number, accepted = statedAt) => object(statedAt, { label: "true", accepted });

/** What the ledger heard: stated at one moment, received at the same or at another. */
function inLedger(statedAt: number, receivedAt = statedAt): AccountView {
  const advertisement: Advertisement = cluster("paris", { more: { statedAt } });
  return { clusterId: "paris", advertisement, receivedAt } as AccountView;
}

type Row = readonly [
  name: string,
  owner: Owner,
  claim: Partial<OwnershipCase> & Pick<OwnershipCase, "object">,
];

const ANSWERED = object(10, { accepted: 10, at: 12 });

const VIEWS: readonly Row[] = [
  ["a view", "broker", { object: view(10), account: inLedger(10) }],
  ["a view of an older word", "broker", { object: view(10), account: inLedger(20) }],
  ["a view painted before its status was", "broker", { object: view(20, 10), account: inLedger(30) }],
  ["a view that a crashed broker knew newer", "broker", { object: view(20), account: inLedger(10) }],
  [
    "a view with a newer word than anybody heard",
    "handed-over",
    { object: view(20, 10), account: inLedger(10) },
  ],
  [
    "the same where nobody listens",
    "broker",
    { object: view(20, 10), account: inLedger(10), objects: false },
  ],
  ["a view of an unknown cluster", "broker", { object: object(20, { label: "true" }) }],
  ["a view that an older ledger left", "broker", { object: view(20) }],
  ["the same with a newer word of an agent on it", "handed-over", { object: view(20, 10) }],
  [
    "a view whose label was torn off",
    "broker",
    { object: ANSWERED, account: inLedger(10, 12), isLabelRemoved: true },
  ],
];

const AGENT_ADVERTISEMENTS: readonly Row[] = [
  ["an agent's first word", "agent", { object: object(10) }],
  ["an agent's word that waits", "agent", { object: object(20, { accepted: 10 }), account: inLedger(15) }],
  [
    "an agent's word, taken in but not answered",
    "agent",
    { object: object(20, { accepted: 10 }), account: inLedger(20) },
  ],
  ["an agent's word, answered", "agent", { object: ANSWERED, account: inLedger(10, 12) }],
  ["an agent's word, and something heard since", "broker", { object: ANSWERED, account: inLedger(20, 21) }],
  [
    "an agent's word that the ledger lost in a crash",
    "agent",
    { object: object(20, { accepted: 20, at: 22 }), account: inLedger(10, 12) },
  ],
  [
    "an agent's word that was refused for another's",
    "broker",
    { object: object(20, { refused: 20 }), account: inLedger(30) },
  ],
  [
    "an agent's word that was refused for its own earlier one",
    "agent",
    { object: object(20, { accepted: 10, refused: 20, at: 12 }), account: inLedger(10, 12) },
  ],
  [
    "an agent's old object where nobody listens",
    "broker",
    { object: ANSWERED, account: inLedger(10, 12), objects: false },
  ],
];

describe("the owner of a ClusterAdvertisement", () => {
  test.each([...VIEWS, ...AGENT_ADVERTISEMENTS])("of %s is: %s", (_, owner, claim) => {
    expect(ownerOf({ account: undefined, objects: true, isLabelRemoved: false, ...claim })).toBe(owner);
  });
});
