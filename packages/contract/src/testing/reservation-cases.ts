import { type AdmissionCase, byRule, goodObject, locks, refusals } from "./admission-case.ts";
import { changed, type JsonObject, type JsonValue } from "./good-objects.ts";

const DURATION = "must be a duration of more than 0";
const CLUSTER_ID = "must be a cluster ID";
const ASKED = "must be stated: what is asked for, with cpu and memory";
const ADOPT = "belongs to the intent Adopt";
const RELEASE = "must be stated for the intent Release";

/** What only the rules of a Reservation refuse: who borrows, what never changes, and what each intent needs. */
export const RESERVATION_CASES: readonly AdmissionCase[] = reservationRows();

function reservationRows(): AdmissionCase[] {
  const kind = "Reservation";
  const [refuses, keeps] = [refusals(kind), locks(kind)];
  return [
    refuses("spec.requesterID", "Rome", CLUSTER_ID),
    refuses("status.requesterLiqoID", "A", CLUSTER_ID),
    refuses("status.targetLiqoID", "A", CLUSTER_ID),
    refuses("status.queue.nominatedTo", "Paris", CLUSTER_ID),
    ...["a while", "0s"].map((text) => refuses("spec.wait.for", text, DURATION)),
    refuses("spec.targetClusterID", "rome", "a cluster cannot borrow from itself"),
    keeps("spec.targetClusterID", "berlin"),
    keeps("spec.targetClusterID", undefined),
    keeps("spec.requesterID", "oslo"),
    keeps("spec.requesterID", undefined),
    {
      name: "a reservation without a requester refuses one later",
      kind,
      old: changed(goodObject(kind), "spec.requesterID", undefined),
      object: goodObject(kind),
      ...byRule("spec.requesterID", "requesterID cannot be changed"),
    },
    keeps("spec.intent", "Quote"),
    keeps("spec.key", "another"),
    keeps("spec.key", undefined),
    keeps("spec.requestedResources", { cpu: "16", memory: "32Gi" }),
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
    ["wait", { for: "4h" }, { for: "5h" }],
    ["resumes", "rsv-rome-before", "rsv-rome-another"],
    ["namespace", "ml-training", "ml-serving"],
  ];
  return options.flatMap(([option, value, other]) => {
    const field = `spec.${option}`;
    const asked = changed(goodObject("Reservation"), field, value);
    const unasked = changed(asked, field, undefined);
    const row = { kind: "Reservation", ...byRule(field, `${option} cannot be changed`) };
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
  const without = (object: JsonObject, path: string): JsonObject => changed(object, path, undefined);
  const withIntent = (intent: string): JsonObject => changed(goodObject(kind), "spec.intent", intent);
  const rows: readonly (readonly [name: string, object: JsonObject, field: string, message: string])[] = [
    ["a reservation that asks for nothing", without(goodObject(kind), asked), asked, ASKED],
    ["a quote that asks for nothing", without(withIntent("Quote"), asked), asked, ASKED],
    ["an adoption without an offer", without(adoption(), "spec.offer"), "spec.offer", ADOPT],
    ["an offer with another intent", changed(adoption(), "spec.intent", "Reserve"), "spec.offer", ADOPT],
    [
      "an offer by nobody we know",
      changed(adoption(), "spec.offer.by", "Paris"),
      "spec.offer.by",
      CLUSTER_ID,
    ],
    ["a release without a key", without(withIntent("Release"), "spec.key"), "spec.key", RELEASE],
  ];
  return rows.map(([name, object, field, message]) => ({
    name: `${name} is refused`,
    kind,
    object,
    ...byRule(field, message),
  }));
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
