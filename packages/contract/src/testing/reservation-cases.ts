import { type AdmissionCase, goodObject, refusesChange, refusesValue } from "./admission-case.ts";
import { changed, type JsonObject, type JsonValue } from "./good-objects.ts";

const CLUSTER_ID = "must be a cluster ID";

/** What only the rules of a Reservation refuse: who borrows, what never changes, and what each intent needs. */
export const RESERVATION_CASES: readonly AdmissionCase[] = reservationRows();

function reservationRows(): AdmissionCase[] {
  const kind = "Reservation";
  const without = changed(goodObject(kind), "spec.requesterID", undefined);
  const requester = { kind, path: "spec.requesterID" };
  return [
    refusesValue(requester, "Rome", CLUSTER_ID),
    refusesValue({ kind, path: "status.requesterLiqoID" }, "A", CLUSTER_ID),
    refusesValue({ kind, path: "status.targetLiqoID" }, "A", CLUSTER_ID),
    refusesValue({ kind, path: "spec.targetClusterID" }, "rome", "a cluster cannot borrow from itself"),
    refusesChange({ kind, path: "spec.targetClusterID" }, "berlin", "targetClusterID cannot be changed"),
    refusesChange({ kind, path: "spec.targetClusterID" }, undefined, "targetClusterID cannot be changed"),
    refusesChange(requester, "oslo", "requesterID cannot be changed"),
    refusesChange(requester, undefined, "requesterID cannot be changed"),
    {
      name: "a reservation without a requester refuses one later",
      kind,
      old: without,
      object: goodObject(kind),
      refusal: { field: "spec.requesterID", message: "requesterID cannot be changed", isRule: true },
    },
    refusesChange({ kind, path: "spec.intent" }, "Quote", "intent cannot be changed"),
    refusesChange({ kind, path: "spec.key" }, "another", "key cannot be changed"),
    refusesChange({ kind, path: "spec.key" }, undefined, "key cannot be changed"),
    refusesChange(
      { kind, path: "spec.requestedResources" },
      { cpu: "16", memory: "32Gi" },
      "requestedResources cannot be changed",
    ),
    ...requestOptionRows(),
    ...intentRows(),
  ];
}

/** It was decided by what was asked for: no wish can come, go or change later. */
function requestOptionRows(): AdmissionCase[] {
  const options: readonly (readonly [name: string, value: JsonValue, other: JsonValue])[] = [
    ["duration", "1h30m", "3h"],
    ["priority", 10, 20],
    ["constraints", { regions: ["eu-west"] }, { regions: ["eu-north"] }],
    ["perNode", { cpu: "1" }, { cpu: "2" }],
    ["tier", "on-demand", "spot"],
    ["start", "2026-07-01T10:00:00Z", "2026-07-01T11:00:00Z"],
  ];
  return options.flatMap(([option, value, other]) => {
    const field = `spec.${option}`;
    const asked = changed(goodObject("Reservation"), field, value);
    const unasked = changed(asked, field, undefined);
    const refusal = { field, message: `${option} cannot be changed`, isRule: true };
    const row = { kind: "Reservation", refusal };
    return [
      {
        name: `a reservation refuses another ${option}`,
        ...row,
        old: asked,
        object: changed(asked, field, other),
      },
      { name: `a reservation refuses a ${option} that comes later`, ...row, old: unasked, object: asked },
      { name: `a reservation refuses to lose its ${option}`, ...row, old: asked, object: unasked },
    ];
  });
}

/** Which fields each intent needs. */
function intentRows(): AdmissionCase[] {
  const kind = "Reservation";
  const asked = "spec.requestedResources";
  const release = changed(goodObject(kind), "spec.intent", "Release");
  const byRule = (field: string, message: string) => ({ refusal: { field, message, isRule: true } });
  return [
    {
      name: "a reservation that asks for nothing is refused",
      kind,
      object: changed(goodObject(kind), asked, undefined),
      ...byRule(asked, "must be stated: what is asked for, with cpu and memory"),
    },
    {
      name: "a quote that asks for nothing is refused",
      kind,
      object: changed(changed(goodObject(kind), "spec.intent", "Quote"), asked, undefined),
      ...byRule(asked, "must be stated: what is asked for, with cpu and memory"),
    },
    {
      name: "an adoption without an offer is refused",
      kind,
      object: changed(adoption(), "spec.offer", undefined),
      ...byRule("spec.offer", "belongs to the intent Adopt"),
    },
    {
      name: "an offer with another intent is refused",
      kind,
      object: changed(adoption(), "spec.intent", "Reserve"),
      ...byRule("spec.offer", "belongs to the intent Adopt"),
    },
    {
      name: "an offer by nobody we know is refused",
      kind,
      object: changed(adoption(), "spec.offer.by", "Paris"),
      ...byRule("spec.offer.by", CLUSTER_ID),
    },
    {
      name: "a release without a key is refused",
      kind,
      object: changed(release, "spec.key", undefined),
      ...byRule("spec.key", "must be stated for the intent Release"),
    },
  ];
}

/** An offer of a hold that the broker has forgotten. */
export function adoption(): JsonObject {
  const offer = {
    id: "rsv-rome-k3u7dq2hvmx5b4ta",
    by: "paris",
    phase: "Active",
    generation: 2,
    createdAt: "2026-07-01T10:00:00.123Z",
  };
  return changed(changed(goodObject("Reservation"), "spec.intent", "Adopt"), "spec.offer", offer);
}
