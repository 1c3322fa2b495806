import { KUBE_LABEL } from "@resource-broker/contract/crd";
import { reservationNameFor } from "@resource-broker/domain";
import { sha256 } from "@resource-broker/runtime";
import { NAMESPACE, offerBy, RESERVATIONS, requestOf } from "./access-objects.ts";
import { type AccessRow, creates } from "./agent-acts.ts";

const ITSELF = "may ask only for itself: spec.requesterID must be rome";
const BROKER_LABELS =
  "may not set the label broker.fluidos.eu/view; broker.fluidos.eu/requester and broker.fluidos.eu/target";
const LONG = "milan.north-1.example.eu";

const labelled = (labels: Readonly<Record<string, string>>) => {
  const request = requestOf("rome", { targetClusterID: "paris" });
  return { ...request, metadata: { ...request.metadata, labels } };
};
const named = (name: string) => ({ ...requestOf("rome"), metadata: { name, namespace: NAMESPACE } });

export const REQUEST_ROWS: readonly AccessRow[] = [
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
    does: creates(RESERVATIONS, named(reservationNameFor("oslo", "5f1c8a3e-2", sha256))),
    refusal:
      "may use names that begin with rsv- only for its own reservations: rsv-rome- and 16 more characters",
  },
  {
    name: "takes the name of a reservation of a cluster whose name begins alike",
    by: "rome",
    does: creates(RESERVATIONS, named(reservationNameFor("rome-2", "5f1c8a3e-2", sha256))),
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
    refusal: BROKER_LABELS,
  },
  {
    name: "labels its request with another requester",
    by: "rome",
    does: creates(RESERVATIONS, labelled({ [KUBE_LABEL.requester]: "oslo" })),
    refusal: BROKER_LABELS,
  },
  {
    name: "labels its request with another provider",
    by: "rome",
    does: creates(RESERVATIONS, labelled({ [KUBE_LABEL.target]: "oslo" })),
    refusal: BROKER_LABELS,
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
