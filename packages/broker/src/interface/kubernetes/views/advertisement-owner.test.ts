import { type ClusterAdvertisement, formatTime, KUBE_LABEL, toQuantities } from "@resource-broker/contract";
import type { AccountView, Advertisement } from "@resource-broker/domain";
import { cluster, size } from "@resource-broker/domain/testing";
import { describe, expect, test } from "vitest";
import { type Claim, type Owner, ownerOf } from "./advertisement-owner.ts";

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

/** What the ledger heard: stated at one moment, received at another. */
function heard(statedAt: number, receivedAt: number): AccountView {
  const advertisement: Advertisement = cluster("paris", { more: { statedAt } });
  return { clusterId: "paris", advertisement, receivedAt } as AccountView;
}

const rows: readonly (Partial<Claim> & Pick<Claim, "object"> & { name: string; owner: Owner })[] = [
  {
    name: "a view",
    object: object(10, { label: "true", accepted: 10 }),
    account: heard(10, 10),
    owner: "broker",
  },
  {
    name: "a view of an older word",
    object: object(10, { label: "true", accepted: 10 }),
    account: heard(20, 20),
    owner: "broker",
  },
  {
    name: "a view painted before its status was",
    object: object(20, { label: "true", accepted: 10 }),
    account: heard(30, 30),
    owner: "broker",
  },
  {
    name: "a view that a crashed broker knew newer",
    object: object(20, { label: "true", accepted: 20 }),
    account: heard(10, 10),
    owner: "broker",
  },
  {
    name: "a view with a newer word than anybody heard",
    object: object(20, { label: "true", accepted: 10 }),
    account: heard(10, 10),
    owner: "handed-over",
  },
  {
    name: "the same where nobody listens",
    object: object(20, { label: "true", accepted: 10 }),
    account: heard(10, 10),
    objects: false,
    owner: "broker",
  },
  { name: "a view of an unknown cluster", object: object(20, { label: "true" }), owner: "broker" },
  { name: "an agent's first word", object: object(10), owner: "agent" },
  {
    name: "an agent's word that waits",
    object: object(20, { accepted: 10 }),
    account: heard(15, 15),
    owner: "agent",
  },
  {
    name: "an agent's word, taken in but not answered",
    object: object(20, { accepted: 10 }),
    account: heard(20, 20),
    owner: "agent",
  },
  {
    name: "an agent's word, answered",
    object: object(10, { accepted: 10, at: 12 }),
    account: heard(10, 12),
    owner: "agent",
  },
  {
    name: "an agent's word, and something heard since",
    object: object(10, { accepted: 10, at: 12 }),
    account: heard(20, 21),
    owner: "broker",
  },
  {
    name: "an agent's word that the ledger lost in a crash",
    object: object(20, { accepted: 20, at: 22 }),
    account: heard(10, 12),
    owner: "agent",
  },
  {
    name: "an agent's word that was refused for another's",
    object: object(20, { refused: 20 }),
    account: heard(30, 30),
    owner: "broker",
  },
  {
    name: "an agent's word that was refused for its own earlier one",
    object: object(20, { accepted: 10, refused: 20, at: 12 }),
    account: heard(10, 12),
    owner: "agent",
  },
  {
    name: "an agent's old object where nobody listens",
    object: object(10, { accepted: 10, at: 12 }),
    account: heard(10, 12),
    objects: false,
    owner: "broker",
  },
  {
    name: "a view whose label was torn off",
    object: object(10, { accepted: 10, at: 12 }),
    account: heard(10, 12),
    isTorn: true,
    owner: "broker",
  },
];

describe("the owner of a ClusterAdvertisement", () => {
  test.each(rows)("of $name is: $owner", ({ owner, ...claim }) => {
    expect(ownerOf({ account: undefined, objects: true, isTorn: false, ...claim })).toBe(owner);
  });
});
