import { KUBE_ANNOTATION, KUBE_LABEL } from "@resource-broker/contract";
import { reservationNameFor } from "@resource-broker/runtime";
import { condition, HELD, NAMESPACE, offerBy, RESERVATIONS, requestOf, SHOWN } from "./access-objects.ts";
import { type AccessRow, creates, deletes, patches, patchesStatus, signals } from "./agent-acts.ts";

const ITSELF = "may ask only for itself: spec.requesterID must be rome";
const MARKS =
  "may not set the label broker.fluidos.eu/view; broker.fluidos.eu/requester and broker.fluidos.eu/target";
const ONLY_CONDITIONS = "may write only conditions of a Reservation: the rest of its status is the broker's";
const OWN_CONDITIONS = "may write only its own conditions here: ";
const LONG = "milan.north-1.example.eu";

const labelled = (labels: Readonly<Record<string, string>>) => {
  const request = requestOf("rome", { targetClusterID: "paris" });
  return { ...request, metadata: { ...request.metadata, labels } };
};
const named = (name: string) => ({ ...requestOf("rome"), metadata: { name, namespace: NAMESPACE } });
const holding = (reason: string) => ({
  ...condition("ProviderHolding", "False"),
  reason,
  message: "no room",
});

const ASKING: readonly AccessRow[] = [
  { name: "asks for resources", by: "rome", does: creates(RESERVATIONS, requestOf("rome")) },
  { name: "asks under a long name with dots", by: LONG, does: creates(RESERVATIONS, requestOf(LONG)) },
  {
    name: "asks under a name that is cut where a dash is",
    by: "aaaaaaaaaaaaaaaaaaa-b",
    does: creates(RESERVATIONS, requestOf("aaaaaaaaaaaaaaaaaaa-b")),
  },
  {
    name: "asks for a certain cluster, with the labels of both parties",
    by: "rome",
    does: creates(
      RESERVATIONS,
      labelled({ [KUBE_LABEL.requester]: "rome", [KUBE_LABEL.target]: "paris", team: "a" }),
    ),
  },
  {
    name: "asks under any other name",
    by: "rome",
    does: creates(RESERVATIONS, {
      ...named("by-hand"),
      spec: { requesterID: "rome", requestedResources: { cpu: "1", memory: "1Gi" } },
    }),
  },
  {
    name: "asks for a quote",
    by: "rome",
    does: creates(RESERVATIONS, requestOf("rome", { intent: "Quote" })),
  },
  {
    name: "lets a key never be served",
    by: "rome",
    does: creates(RESERVATIONS, requestOf("rome", { intent: "Release" })),
  },
  {
    name: "asks for another cluster",
    by: "rome",
    does: creates(RESERVATIONS, requestOf("oslo")),
    refusal: ITSELF,
  },
  {
    name: "asks for nobody",
    by: "rome",
    does: creates(RESERVATIONS, {
      ...requestOf("rome"),
      spec: { requestedResources: { cpu: "1", memory: "1Gi" } },
    }),
    refusal: ITSELF,
  },
  {
    name: "asks for a quote for another cluster",
    by: "rome",
    does: creates(RESERVATIONS, requestOf("paris", { intent: "Quote" })),
    refusal: ITSELF,
  },
  {
    name: "releases another cluster's key",
    by: "rome",
    does: creates(RESERVATIONS, requestOf("paris", { intent: "Release" })),
    refusal: ITSELF,
  },
  {
    name: "takes the name of another cluster's reservation",
    by: "rome",
    does: creates(RESERVATIONS, named(reservationNameFor("oslo", "5f1c8a3e-2"))),
    refusal:
      "may use names that begin with rsv- only for its own reservations: rsv-rome- and 16 more characters",
  },
  {
    name: "takes the name of a reservation of a cluster whose name begins alike",
    by: "rome",
    does: creates(RESERVATIONS, named(reservationNameFor("rome-2", "5f1c8a3e-2"))),
    refusal: "may use names that begin with rsv- only for its own reservations",
  },
  {
    name: "takes the name of another cluster's offer",
    by: "rome",
    does: creates(RESERVATIONS, named(offerBy("oslo").metadata.name)),
    refusal: "may use names that begin with rsv- only for its own reservations",
  },
  {
    name: "marks its request as the broker's picture",
    by: "rome",
    does: creates(RESERVATIONS, labelled({ [KUBE_LABEL.view]: "true" })),
    refusal: MARKS,
  },
  {
    name: "labels its request with another requester",
    by: "rome",
    does: creates(RESERVATIONS, labelled({ [KUBE_LABEL.requester]: "oslo" })),
    refusal: MARKS,
  },
  {
    name: "labels its request with another provider",
    by: "rome",
    does: creates(RESERVATIONS, labelled({ [KUBE_LABEL.target]: "oslo" })),
    refusal: MARKS,
  },
  {
    name: "creates a request that cannot be deleted",
    by: "rome",
    does: creates(RESERVATIONS, {
      ...requestOf("rome"),
      metadata: { ...requestOf("rome").metadata, finalizers: ["example.com/stay"] },
    }),
    refusal: "may not change finalizers or ownerReferences",
  },
];

const OFFERING: readonly AccessRow[] = [
  { name: "offers a hold as requester", by: "rome", does: creates(RESERVATIONS, offerBy("rome")) },
  { name: "takes its offer back", by: "paris", does: deletes(RESERVATIONS, offerBy("paris")) },
  {
    name: "offers a hold as provider",
    by: "oslo",
    does: creates(RESERVATIONS, offerBy("oslo", { targetClusterID: "oslo" })),
  },
  {
    name: "offers a hold between two others",
    by: "oslo",
    does: creates(RESERVATIONS, offerBy("oslo")),
    refusal: "may offer for adoption only what it holds itself: spec.offer.by must be oslo",
  },
  {
    name: "offers a hold in another cluster's name",
    by: "rome",
    does: creates(RESERVATIONS, { ...offerBy("paris"), metadata: offerBy("rome").metadata }),
    refusal: "may offer for adoption only what it holds itself: spec.offer.by must be rome",
  },
  {
    name: "offers a hold under the name of its reservation",
    by: "rome",
    does: creates(RESERVATIONS, {
      ...offerBy("rome"),
      metadata: { name: reservationNameFor("rome", "forgotten"), namespace: NAMESPACE },
    }),
    refusal: "must name its offer after the reservation: <spec.offer.id>-offer-rome",
  },
  {
    name: "deletes the other party's offer",
    by: "rome",
    does: deletes(RESERVATIONS, offerBy("paris")),
    refusal: "may delete only its own Reservations; this one belongs to paris",
  },
];

const EDITING: readonly AccessRow[] = [
  {
    name: "renews what it borrows",
    by: "rome",
    does: patches(RESERVATIONS, HELD, {
      metadata: { annotations: { [KUBE_ANNOTATION.renew]: "1h 7c0f3a52" } },
    }),
  },
  {
    name: "renews what the broker shows of its own",
    by: "paris",
    does: patches(RESERVATIONS, SHOWN, {
      metadata: { annotations: { [KUBE_ANNOTATION.renew]: "1h 7c0f3a52" } },
    }),
  },
  {
    name: "labels its own with something of its own",
    by: "rome",
    does: patches(RESERVATIONS, HELD, { metadata: { labels: { team: "a" } } }),
  },
  { name: "gives back what it borrows by deleting it", by: "rome", does: deletes(RESERVATIONS, HELD) },
  {
    name: "reads all reservations",
    by: "oslo",
    does: (agent) => agent.list(RESERVATIONS, { namespace: NAMESPACE }, () => undefined),
  },
  {
    name: "renews what it lends",
    by: "paris",
    does: patches(RESERVATIONS, HELD, {
      metadata: { annotations: { [KUBE_ANNOTATION.renew]: "1s 7c0f3a52" } },
    }),
    refusal:
      "may change only its own Reservations (the annotation broker.fluidos.eu/renew is the requester's); this one belongs to rome",
  },
  {
    name: "deletes what it lends",
    by: "paris",
    does: deletes(RESERVATIONS, HELD),
    refusal: "may delete only its own Reservations; this one belongs to rome",
  },
  {
    name: "deletes what is between two others",
    by: "oslo",
    does: deletes(RESERVATIONS, SHOWN),
    refusal: "may delete only its own Reservations; this one belongs to paris",
  },
  {
    name: "asks for longer by changing the spec",
    by: "rome",
    does: patches(RESERVATIONS, HELD, { spec: { duration: "8h" } }),
    refusal: "may not change the spec of a Reservation: delete it and create another",
  },
  {
    name: "takes the finalizer off",
    by: "rome",
    does: patches(RESERVATIONS, HELD, { metadata: { finalizers: null } }),
    refusal: "may not change finalizers or ownerReferences",
  },
  {
    name: "takes the other party's label off",
    by: "rome",
    does: patches(RESERVATIONS, HELD, { metadata: { labels: { [KUBE_LABEL.target]: null } } }),
    refusal: "may not change the labels broker.fluidos.eu/view, /requester and /target",
  },
  {
    name: "marks a reservation as the broker's picture",
    by: "rome",
    does: patches(RESERVATIONS, HELD, { metadata: { labels: { [KUBE_LABEL.view]: "true" } } }),
    refusal: "may not change the labels broker.fluidos.eu/view, /requester and /target",
  },
];

const SIGNALLING: readonly AccessRow[] = [
  {
    name: "says that it uses what it borrows",
    by: "rome",
    does: signals(HELD, condition("RequesterActive")),
  },
  {
    name: "says that it is done, with the whole list of conditions",
    by: "rome",
    does: patchesStatus(HELD, {
      conditions: [...(HELD.status?.conditions ?? []), condition("RequesterReleased")],
    }),
  },
  {
    name: "says that it is done, with the whole object",
    by: "rome",
    does: async (agent) => {
      const object = await agent.get(RESERVATIONS, { name: HELD.metadata.name, namespace: NAMESPACE });
      const conditions = [...(object.status?.conditions ?? []), condition("RequesterReleased")];
      return agent.update(
        RESERVATIONS,
        { ...object, status: { ...object.status, conditions } },
        { subresource: "status" },
      );
    },
  },
  {
    name: "says that it holds what it lends",
    by: "paris",
    does: signals(HELD, condition("ProviderHolding")),
  },
  { name: "says that it cannot hold it", by: "paris", does: signals(HELD, holding("Refused")) },
  {
    name: "signals on what the broker shows",
    by: "paris",
    does: signals(SHOWN, condition("RequesterActive")),
  },
  {
    name: "says as requester that the provider holds it",
    by: "rome",
    does: signals(HELD, condition("ProviderHolding")),
    refusal: `${OWN_CONDITIONS}RequesterActive, RequesterReleased`,
  },
  {
    name: "says as provider that the requester is done",
    by: "paris",
    does: signals(HELD, condition("RequesterReleased")),
    refusal: `${OWN_CONDITIONS}ProviderHolding`,
  },
  {
    name: "speaks about what is between two others",
    by: "oslo",
    does: signals(HELD, condition("RequesterReleased")),
    refusal: "is no party of this Reservation: it may not write its status",
  },
  {
    name: "changes a condition of the broker's",
    by: "rome",
    does: signals(HELD, condition("Reserved", "False")),
    refusal: OWN_CONDITIONS,
  },
  {
    name: "removes the conditions of the broker",
    by: "rome",
    does: patchesStatus(HELD, { conditions: [condition("RequesterActive")] }),
    refusal: OWN_CONDITIONS,
  },
  {
    name: "writes the phase",
    by: "rome",
    does: patchesStatus(HELD, { phase: "Active" }),
    refusal: ONLY_CONDITIONS,
  },
  {
    name: "adds a field to the status",
    by: "rome",
    does: patchesStatus(HELD, { expiresAt: "2036-07-01T10:00:00Z" }),
    refusal: ONLY_CONDITIONS,
  },
  {
    name: "removes a field of the status",
    by: "paris",
    does: patchesStatus(HELD, { message: null }),
    refusal: ONLY_CONDITIONS,
  },
  {
    name: "removes the whole status",
    by: "rome",
    does: patchesStatus(HELD, { phase: null, message: null, generation: null, conditions: null }),
    refusal: ONLY_CONDITIONS,
  },
];

export const RESERVATION_ROWS: readonly AccessRow[] = [...ASKING, ...OFFERING, ...EDITING, ...SIGNALLING];
