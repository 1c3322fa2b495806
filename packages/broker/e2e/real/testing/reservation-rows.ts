import { KUBE_ANNOTATION, KUBE_LABEL } from "@resource-broker/contract/crd";
import { reservationNameFor } from "@resource-broker/domain";
import { sha256 } from "@resource-broker/runtime";
import { HELD, NAMESPACE, offerBy, RESERVATIONS, SHOWN } from "./access-objects.ts";
import { type AccessRow, creates, deletes, patches } from "./agent-acts.ts";
import { REQUEST_ROWS } from "./request-rows.ts";
import { SIGNALLING_ROWS } from "./signalling-rows.ts";

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
      metadata: { name: reservationNameFor("rome", "forgotten", sha256), namespace: NAMESPACE },
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
    // What was asked for, the definition lets nobody change; what is offered is the rule's alone.
    name: "offers something else by changing the spec",
    by: "rome",
    does: async (agent) => {
      await creates(RESERVATIONS, offerBy("rome"))(agent);
      return patches(RESERVATIONS, offerBy("rome"), { spec: { offer: { generation: 9 } } })(agent);
    },
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

export const RESERVATION_ROWS: readonly AccessRow[] = [
  ...REQUEST_ROWS,
  ...OFFERING,
  ...EDITING,
  ...SIGNALLING_ROWS,
];
