import { resourceVector } from "@resource-broker/base";
import { type ClusterAdvertisement, KUBE_ANNOTATION, KUBE_LABEL } from "@resource-broker/contract/crd";
import { type AccountView, apply, emptyLedger, type Ledger } from "@resource-broker/domain";
import { clusterOf } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import {
  type AdvertisementOutcome,
  advertisementStatus,
  brokerResources,
} from "../builders/advertisement-status.ts";
import { offered } from "../testing/samples.ts";
import { stepName } from "../projection/desired-object.ts";
import { versionFields } from "./advertisement-owner.ts";
import { type AdvertisementState, planAdvertisement } from "./plan-advertisement.ts";

const NOW = Date.UTC(2026, 0, 5, 12);
const POLICY = { stalenessMs: 120_000 };
const AT = "2026-01-05T12:00:00.000Z";

/** A ledger that heard paris so long ago. */
function heard(agoMs = 0): Ledger {
  const ledger = emptyLedger();
  apply(ledger, {
    kind: "advertised",
    at: NOW - agoMs,
    advertisement: clusterOf("paris", 16, { instance: "a", sequence: 1 }),
  });
  return ledger;
}

function object(more: Partial<ClusterAdvertisement["metadata"]> = {}, sequence = 1): ClusterAdvertisement {
  const { metadata, spec } = offered("paris", { sequence });
  if (metadata === undefined || spec === undefined) throw new Error("the sample is whole");
  return {
    apiVersion: "broker.fluidos.eu/v1alpha1",
    kind: "ClusterAdvertisement",
    metadata: { ...metadata, ...more },
    spec,
  };
}

function accepted(of: ClusterAdvertisement): AdvertisementOutcome {
  return { accepted: { ...versionFields(of.spec), at: AT } };
}

/** An object that says all there is to say. */
function written(ledger: Ledger, sequence = 1): ClusterAdvertisement {
  const bare = object({}, sequence);
  const account = accountIn(ledger);
  const whole = {
    ...bare,
    spec: { ...bare.spec, resources: { ...bare.spec.resources, ...brokerResources(account) } },
  };
  const outcome = accepted(object());
  const context = { now: NOW, policy: POLICY, ledgerId: "led-1" };
  return { ...whole, status: advertisementStatus({ account, object: whole, outcome }, context) };
}

function accountIn(ledger: Ledger): AccountView {
  const account = ledger.accounts.get("paris");
  if (account === undefined) throw new Error("paris was heard");
  return account;
}

function plan(state: Partial<AdvertisementState> & Pick<AdvertisementState, "object">) {
  return planAdvertisement({
    ledger: heard(),
    ledgerId: "led-1",
    now: NOW,
    policy: POLICY,
    outcome: undefined,
    namespace: "broker",
    name: state.object?.metadata.name ?? "paris-adv",
    objects: true,
    views: false,
    isLabelRemoved: false,
    isRefreshDue: false,
    ...state,
  });
}

const lowered = (): ClusterAdvertisement => {
  const whole = written(heard());
  const reserved = { cpu: "0", memory: "0", gpu: "4" };
  return { ...whole, spec: { ...whole.spec, resources: { ...whole.spec.resources, reserved } } };
};

/** The status of an older agent's object was wiped, or lost with a backup. */
const forgotten = (): { readonly object: ClusterAdvertisement; readonly ledger: Ledger } => {
  const { instance: _, sequence: __, ...spec } = object().spec;
  const ledger = emptyLedger();
  const advertisement = clusterOf("paris", 16, { statedAt: Date.parse(spec.timestamp) });
  apply(ledger, { kind: "advertised", at: NOW - 600_000, advertisement });
  return { object: { ...object(), spec }, ledger };
};

const STEPS: readonly (readonly [string, Parameters<typeof plan>[0], string])[] = [
  ["a new advertisement is taken in", { object: object() }, "advertise"],
  ["the next one of the same agent is taken in", { object: written(heard(), 2) }, "advertise"],
  [
    "one that was taken in and not told is not taken in again",
    { object: object(), outcome: accepted(object()) },
    "set-resources",
  ],
  [
    "one that the ledger has heard is not taken in again when its status is lost: it would be fresh",
    forgotten(),
    "set-resources",
  ],
  ["what is told already is left alone until it is stale", { object: written(heard()) }, "done"],
  ["silence makes it stale", { object: written(heard()), now: NOW + 120_001 }, "write-status"],
  [
    "another policy makes it stale, too",
    { object: written(heard(5000)), ledger: heard(5000), policy: { stalenessMs: 4999 } },
    "write-status",
  ],
  ["what somebody else wrote into reserved is written over", { object: lowered() }, "set-resources"],
  [
    "an object of another name than its cluster's is told so",
    { object: object({ name: "rome-adv" }) },
    "write-status",
  ],
  ["a view is the views' business", { object: object({ labels: { [KUBE_LABEL.view]: "true" } }) }, "done"],
  ["what is being deleted is left alone", { object: object({ deletionTimestamp: AT }) }, "done"],
  [
    "a ledger without memory waits for the agent, and does not believe an old object",
    { object: written(heard()), ledger: emptyLedger() },
    "write-status",
  ],
];

describe("what is done about a ClusterAdvertisement:", () => {
  test.each(STEPS)("%s", (_, state, expected) => {
    const step = plan(state);
    expect(step.kind === "done" ? "done" : stepName(step)).toBe(expected);
  });

  test("without an instance it comes from an older agent", () => {
    const { instance: _, sequence: __, ...spec } = object().spec;
    const step = plan({ object: { ...object(), spec } });
    expect(step).toMatchObject({ call: { kind: "advertise", advertisement: { protocol: 1 } } });
  });

  test.each([
    { stated: undefined, counts: 2 },
    { stated: "1", counts: 2 },
    { stated: "3", counts: 3 },
    { stated: "3.0", counts: 2 },
  ])("an agent that says protocol $stated speaks $counts", ({ stated, counts }) => {
    const annotations = stated === undefined ? {} : { [KUBE_ANNOTATION.protocol]: stated };
    const { metadata, ...whole } = object();
    expect(plan({ object: { ...whole, metadata: { ...metadata, annotations } } })).toMatchObject({
      call: { kind: "advertise", advertisement: { protocol: counts } },
    });
  });

  test("what an agent says of reserved and available is never read", () => {
    const whole = object();
    const all = { cpu: "999", memory: "999Gi" };
    const spec = { ...whole.spec, resources: { ...whole.spec.resources, reserved: all, available: all } };
    const step = plan({ object: { ...whole, spec } });
    const allocatable = resourceVector({ cpuMillis: 16_000, memoryBytes: 64 * 2 ** 30 });
    expect(step).toMatchObject({ call: { kind: "advertise", advertisement: { allocatable } } });
  });

  test("an object that an older definition let in is turned away with what is wrong", () => {
    const whole = object();
    const spec = {
      ...whole.spec,
      resources: { ...whole.spec.resources, allocatable: { cpu: "-1", memory: "1Gi" } },
    };
    expect(plan({ object: { ...whole, spec } })).toMatchObject({
      call: { kind: "refuse", problem: expect.stringContaining("resources.allocatable.cpu") },
    });
  });

  test("a field that nobody wants any more is taken away", () => {
    expect(plan({ object: lowered() })).toMatchObject({
      write: { name: "set-resources", change: { spec: { resources: { reserved: { gpu: null } } } } },
    });
  });
});
