import { KUBE_ANNOTATION, KUBE_LABEL } from "@resource-broker/contract/crd";
import { reservationNameFor } from "@resource-broker/domain";
import { sha256 } from "@resource-broker/runtime";
import { condition, HELD, NAMESPACE, offerBy, RESERVATIONS, requestOf, SHOWN } from "./access-objects.ts";
import {
  type AccessRow,
  allowed,
  creates,
  deletes,
  patches,
  patchesStatus,
  refused,
  signals,
} from "./agent-acts.ts";

type Reservation = typeof HELD;

const LONG = "milan.north-1.example.eu";
const CUT_AT_A_DASH = "aaaaaaaaaaaaaaaaaaa-b";

const asks = (object: Reservation) => creates(RESERVATIONS, object);
const offers = asks;
const withMetadata = (object: Reservation, metadata: object): Reservation => ({
  ...object,
  metadata: { ...object.metadata, ...metadata },
});
const named = (name: string) => withMetadata(requestOf("rome"), { name });
const labelled = (labels: Readonly<Record<string, string>>) =>
  withMetadata(requestOf("rome", { targetClusterID: "paris" }), { labels });
const changes = (object: Reservation, body: object) => patches(RESERVATIONS, object, body);
const renews = (object: Reservation, by: string) =>
  changes(object, { metadata: { annotations: { [KUBE_ANNOTATION.renew]: `${by} 7c0f3a52` } } });
const relabels = (labels: Readonly<Record<string, string | null>>) => changes(HELD, { metadata: { labels } });
const releases = (object: Reservation) => deletes(RESERVATIONS, object);

const ASKING: readonly AccessRow[] = [
  ...allowed(
    ["rome", "asks for resources", asks(requestOf("rome"))],
    [LONG, "asks under a long name with dots", asks(requestOf(LONG))],
    [CUT_AT_A_DASH, "asks under a name that is cut where a dash is", asks(requestOf(CUT_AT_A_DASH))],
    [
      "rome",
      "asks for a certain cluster, with the labels of both parties",
      asks(labelled({ [KUBE_LABEL.requester]: "rome", [KUBE_LABEL.target]: "paris", team: "a" })),
    ],
    [
      "rome",
      "asks under any other name",
      asks({
        ...named("by-hand"),
        spec: { requesterID: "rome", requestedResources: { cpu: "1", memory: "1Gi" } },
      }),
    ],
    ["rome", "asks for a quote", asks(requestOf("rome", { intent: "Quote" }))],
    ["rome", "lets a key never be served", asks(requestOf("rome", { intent: "Release" }))],
  ),
  ...refused(
    "may ask only for itself: spec.requesterID must be rome",
    ["rome", "asks for another cluster", asks(requestOf("oslo"))],
    [
      "rome",
      "asks for nobody",
      asks({ ...requestOf("rome"), spec: { requestedResources: { cpu: "1", memory: "1Gi" } } }),
    ],
    ["rome", "asks for a quote for another cluster", asks(requestOf("paris", { intent: "Quote" }))],
    ["rome", "releases another cluster's key", asks(requestOf("paris", { intent: "Release" }))],
  ),
  ...refused(
    "may use names that begin with rsv- only for its own reservations: rsv-rome- and 16 more characters",
    [
      "rome",
      "takes the name of another cluster's reservation",
      asks(named(reservationNameFor("oslo", "5f1c8a3e-2", sha256))),
    ],
    [
      "rome",
      "takes the name of a reservation of a cluster whose name begins alike",
      asks(named(reservationNameFor("rome-2", "5f1c8a3e-2", sha256))),
    ],
    ["rome", "takes the name of another cluster's offer", asks(named(offerBy("oslo").metadata.name))],
  ),
  ...refused(
    "may not set the label broker.fluidos.eu/view; broker.fluidos.eu/requester and broker.fluidos.eu/target",
    ["rome", "marks its request as the broker's picture", asks(labelled({ [KUBE_LABEL.view]: "true" }))],
    ["rome", "labels its request with another requester", asks(labelled({ [KUBE_LABEL.requester]: "oslo" }))],
    ["rome", "labels its request with another provider", asks(labelled({ [KUBE_LABEL.target]: "oslo" }))],
  ),
  ...refused("may not change finalizers or ownerReferences", [
    "rome",
    "creates a request that cannot be deleted",
    asks(withMetadata(requestOf("rome"), { finalizers: ["example.com/stay"] })),
  ]),
];

const OFFERING: readonly AccessRow[] = [
  ...allowed(
    ["rome", "offers a hold as requester", offers(offerBy("rome"))],
    ["paris", "takes its offer back", releases(offerBy("paris"))],
    ["oslo", "offers a hold as provider", offers(offerBy("oslo", { targetClusterID: "oslo" }))],
  ),
  ...refused("may offer for adoption only what it holds itself: spec.offer.by must be oslo", [
    "oslo",
    "offers a hold between two others",
    offers(offerBy("oslo")),
  ]),
  ...refused("may offer for adoption only what it holds itself: spec.offer.by must be rome", [
    "rome",
    "offers a hold in another cluster's name",
    offers({ ...offerBy("paris"), metadata: offerBy("rome").metadata }),
  ]),
  ...refused("must name its offer after the reservation: <spec.offer.id>-offer-rome", [
    "rome",
    "offers a hold under the name of its reservation",
    offers(withMetadata(offerBy("rome"), { name: reservationNameFor("rome", "forgotten", sha256) })),
  ]),
];

const EDITING: readonly AccessRow[] = [
  ...allowed(
    ["rome", "renews what it borrows", renews(HELD, "1h")],
    ["paris", "renews what the broker shows of its own", renews(SHOWN, "1h")],
    ["rome", "labels its own with something of its own", relabels({ team: "a" })],
    ["rome", "gives back what it borrows by deleting it", releases(HELD)],
    [
      "oslo",
      "reads all reservations",
      (agent) => agent.list(RESERVATIONS, { namespace: NAMESPACE }, () => undefined),
    ],
  ),
  ...refused(
    "may change only its own Reservations (the annotation broker.fluidos.eu/renew is the requester's); this one belongs to rome",
    ["paris", "renews what it lends", renews(HELD, "1s")],
  ),
  ...refused("may delete only its own Reservations; this one belongs to rome", [
    "paris",
    "deletes what it lends",
    releases(HELD),
  ]),
  ...refused(
    "may delete only its own Reservations; this one belongs to paris",
    ["oslo", "deletes what is between two others", releases(SHOWN)],
    ["rome", "deletes the other party's offer", releases(offerBy("paris"))],
  ),
  // What was asked for, the definition lets nobody change; what is offered is the rule's alone.
  ...refused("may not change the spec of a Reservation: delete it and create another", [
    "rome",
    "offers something else by changing the spec",
    async (agent) => {
      await offers(offerBy("rome"))(agent);
      return changes(offerBy("rome"), { spec: { offer: { generation: 9 } } })(agent);
    },
  ]),
  ...refused("may not change finalizers or ownerReferences", [
    "rome",
    "takes the finalizer off",
    changes(HELD, { metadata: { finalizers: null } }),
  ]),
  ...refused(
    "may not change the labels broker.fluidos.eu/view, /requester and /target",
    ["rome", "takes the other party's label off", relabels({ [KUBE_LABEL.target]: null })],
    ["rome", "marks a reservation as the broker's picture", relabels({ [KUBE_LABEL.view]: "true" })],
  ),
];

const withReleased = (conditions = HELD.status?.conditions ?? []) => [
  ...conditions,
  condition("RequesterReleased"),
];

const SIGNALLING: readonly AccessRow[] = [
  ...allowed(
    ["rome", "says that it uses what it borrows", signals(HELD, condition("RequesterActive"))],
    [
      "rome",
      "says that it is done, with the whole list of conditions",
      patchesStatus(HELD, { conditions: withReleased() }),
    ],
    [
      "rome",
      "says that it is done, with the whole object",
      async (agent) => {
        const object = await agent.get(RESERVATIONS, { name: HELD.metadata.name, namespace: NAMESPACE });
        const status = { ...object.status, conditions: withReleased(object.status?.conditions) };
        return agent.update(RESERVATIONS, { ...object, status }, { subresource: "status" });
      },
    ],
    ["paris", "says that it holds what it lends", signals(HELD, condition("ProviderHolding"))],
    [
      "paris",
      "says that it cannot hold it",
      signals(HELD, { ...condition("ProviderHolding", "False"), reason: "Refused", message: "no room" }),
    ],
    ["paris", "signals on what the broker shows", signals(SHOWN, condition("RequesterActive"))],
  ),
  ...refused("may write only its own conditions here: RequesterActive, RequesterReleased", [
    "rome",
    "says as requester that the provider holds it",
    signals(HELD, condition("ProviderHolding")),
  ]),
  ...refused("may write only its own conditions here: ProviderHolding", [
    "paris",
    "says as provider that the requester is done",
    signals(HELD, condition("RequesterReleased")),
  ]),
  ...refused("is no party of this Reservation: it may not write its status", [
    "oslo",
    "speaks about what is between two others",
    signals(HELD, condition("RequesterReleased")),
  ]),
  ...refused(
    "may write only its own conditions here: ",
    ["rome", "changes a condition of the broker's", signals(HELD, condition("Reserved", "False"))],
    [
      "rome",
      "removes the conditions of the broker",
      patchesStatus(HELD, { conditions: [condition("RequesterActive")] }),
    ],
  ),
  ...refused(
    "may write only conditions of a Reservation: the rest of its status is the broker's",
    ["rome", "writes the phase", patchesStatus(HELD, { phase: "Active" })],
    ["rome", "adds a field to the status", patchesStatus(HELD, { expiresAt: "2036-07-01T10:00:00Z" })],
    ["paris", "removes a field of the status", patchesStatus(HELD, { message: null })],
    [
      "rome",
      "removes the whole status",
      patchesStatus(HELD, { phase: null, message: null, generation: null, conditions: null }),
    ],
  ),
];

export const RESERVATION_ROWS: readonly AccessRow[] = [...ASKING, ...OFFERING, ...EDITING, ...SIGNALLING];
