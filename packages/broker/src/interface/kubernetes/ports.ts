import type { Clock, Log } from "@resource-broker/base";
import type { SliceDefaults } from "@resource-broker/contract";
import type { ClusterAdvertisement, Reservation } from "@resource-broker/contract/crd";
import type { ReservationId } from "@resource-broker/domain";
import type { EventRecorder, KubeClient, ObjectCache } from "@resource-broker/kube";
import type { ReportReload } from "@resource-broker/runtime";
import type { Engine } from "../../engine/engine.ts";
import type { HttpMetrics } from "../../metrics/metrics.ts";
import type { SourcedPolicy } from "../../policy/loaded-policy.ts";
import type { Store } from "../../store/store.ts";

export interface KubernetesOptions {
  /** Where all objects are: agents', people's and the broker's. */
  readonly namespace: string;
  /** Names this process in the Lease. */
  readonly replica: string;
  /** Show the ledger as objects, and follow the BrokerPolicy. */
  readonly views: boolean;
  /** Serve what agents and people write there. */
  readonly objects: boolean;
}

/** Most of it is what every part needs. */
export interface KubernetesDeps {
  readonly engine: Engine;
  readonly store: Pick<Store, "findDecision">;
  readonly client: KubeClient;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly randomBytes: (size: number) => Uint8Array;
  readonly log: Log;
  readonly recorder: EventRecorder;
  readonly metrics?: Pick<HttpMetrics, "demandUnmet">;
  /** False on a replaced replica: it must not write any more. */
  readonly isLeading: () => boolean;
  /** Of the policy in force. */
  readonly sliceDefaults: () => SliceDefaults;
  /** A BrokerPolicy is to be followed; undefined: none any more, so the file or the built-in policy is. */
  readonly onPolicy: (loaded: SourcedPolicy | undefined) => void;
  /** Called with the reason if a BrokerPolicy is not followed, and with undefined when it is followed again. */
  readonly reportPolicy?: ReportReload;
}

/** One concern of the interface. Started when `KnownObjects` has seen all there is; stopped before it ends. */
export interface KubernetesPart {
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** The objects of the namespace, followed once for all parts; by `<namespace>/<name>` (`objectKey`). */
export interface KnownObjects {
  /** Without managed fields; a decision's text is replaced by `DECISION_PLACEHOLDER`. */
  readonly reservations: ObjectCache<Reservation>;
  readonly advertisements: ObjectCache<ClusterAdvertisement>;
  /**
   * Objects without the view label that represent a reservation of the ledger: an agent's object of the same name, or a
   * person's object of any name. If there is one, no view is needed.
   */
  readonly requestsFor: (id: ReservationId) => readonly Reservation[];
}

/** What `createViews(options, deps)` of views/views.ts and `followBrokerPolicy(options, deps)` of policy/ are given. */
export interface PartOptions {
  readonly namespace: string;
}
export interface PartDeps extends Omit<KubernetesDeps, "randomBytes" | "metrics"> {
  readonly known: KnownObjects;
}

/** The broker's fields, by server-side apply with `force`; status with the functions of `builders/`. */
export const FIELD_MANAGER = "resource-broker";
/** Only `status.renewed`, `code` and `explanation` of a live reservation: what became of the last renewal. */
export const RENEWAL_FIELD_MANAGER = "resource-broker-renewals";
