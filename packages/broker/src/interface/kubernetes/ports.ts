import type { Clock, Log } from "@resource-broker/base";
import type { SliceDefaults } from "@resource-broker/contract";
import type { EventRecorder, KubeClient } from "@resource-broker/kube";
import type { ReportReload } from "@resource-broker/runtime";
import type { Engine } from "../../engine/engine.ts";
import type { HttpMetrics } from "../../metrics/metrics.ts";
import type { SourcedPolicy } from "../../policy/policy.ts";
import type { Store } from "../../store/store.ts";
import type { ObjectInformers } from "./objects/object-informers.ts";
import type { RateLimiter } from "./projection/rate-limiter.ts";

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

/** One concern of the interface. Started when the informers have seen all there is. */
export interface KubernetesPart {
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export type ProjectionOptions = Pick<KubernetesOptions, "namespace" | "objects" | "views">;
export interface ProjectionDeps extends KubernetesDeps {
  readonly known: ObjectInformers;
}
/** What the controller of one kind is given. */
export interface KindDeps extends ProjectionDeps {
  readonly limiter: RateLimiter;
  /** Aborted when the projection stops. */
  readonly signal: AbortSignal;
}

/** The broker's fields, by server-side apply with `force`; status with the functions of `builders/`. */
export const FIELD_MANAGER = "resource-broker";
/** Only `status.renewed`, `code` and `explanation` of a live reservation: what became of the last renewal. */
export const RENEWAL_FIELD_MANAGER = "resource-broker-renewals";
