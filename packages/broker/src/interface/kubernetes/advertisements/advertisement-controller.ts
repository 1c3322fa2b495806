import { formatTime } from "@resource-broker/base";
import { type ClusterAdvertisement, clusterAdvertisementName } from "@resource-broker/contract/crd";
import type { ClusterId, LedgerEvent, LedgerView } from "@resource-broker/domain";
import { objectKey, reconcileLoop } from "@resource-broker/kube";
import type { AdvertisementOutcome, AdvertisementStatus } from "../builders/advertisement-status.ts";
import { advertisementEvents } from "../builders/events.ts";
import { assumeCache } from "../objects/assume-cache.ts";
import {
  CLUSTER_ADVERTISEMENTS,
  type ObjectInformers,
  trimAdvertisement,
} from "../objects/object-informers.ts";
import { stepReconciler } from "../objects/step-reconciler.ts";
import { FIELD_MANAGER, type KubernetesDeps, type KubernetesPart } from "../ports.ts";
import { type AdvertisementStep, planAdvertisement, versionFields } from "./plan-advertisement.ts";

const CONCURRENCY = 16;
const RESYNC_MS = 60_000;
/** Delay before a status is written, because the available capacity may change many times per second. */
const STATUS_DELAY_MS = 250;

/** Accepts ClusterAdvertisements of agents and writes the broker's fields and status to them. */
export function serveAdvertisements(
  { namespace }: { readonly namespace: string },
  deps: KubernetesDeps & { readonly known: ObjectInformers },
): KubernetesPart {
  const { engine, client, known, clock, random, log, recorder, isLeading } = deps;
  const cache = assumeCache(known.advertisements, trimAdvertisement);
  /** Outcomes of accepted or refused advertisements whose status is not written yet. */
  const outcomes = new Map<string, { readonly version: string; readonly receipt: AdvertisementOutcome }>();
  const lastWritten = new Map<string, string>();

  const planFor = (object: ClusterAdvertisement, key: string): AdvertisementStep => {
    const { ledger, ledgerId, policy } = engine;
    const own = outcomes.get(key);
    const outcome = own?.version === versionKey(object) ? own.receipt : undefined;
    return planAdvertisement({ object, ledger, ledgerId, policy, now: engine.now(), outcome });
  };

  const setOutcome = (object: ClusterAdvertisement, receipt: AdvertisementOutcome): void =>
    void outcomes.set(objectKey(object), { version: versionKey(object), receipt });

  const refuse = (object: ClusterAdvertisement, code: string, message: string): void => {
    const { accepted } = object.status ?? {};
    const refused = { ...versionFields(object), code, message };
    setOutcome(object, accepted === undefined ? { refused } : { accepted, refused });
  };

  const advertise = async (
    object: ClusterAdvertisement,
    { advertisement }: Extract<AdvertisementStep, { kind: "advertise" }>,
  ): Promise<void> => {
    const reply = await engine.submit({ kind: "advertise", advertisement });
    if (reply.kind === "rejected") refuse(object, reply.code, reply.message);
    else setOutcome(object, { accepted: { ...versionFields(object), at: formatTime(engine.now()) } });
  };

  const setResources = async (object: ClusterAdvertisement, resources: object): Promise<void> => {
    const { name, uid } = object.metadata;
    const body = { metadata: { uid }, spec: { resources } };
    const change = { name: { name, namespace }, patch: { kind: "merge", body } } as const;
    cache.assume(await client.patch(CLUSTER_ADVERTISEMENTS, change, { fieldManager: FIELD_MANAGER }));
  };

  /** Returns false if the same status was written before: the server does not keep all of its fields. */
  const writeStatus = async (object: ClusterAdvertisement, status: AdvertisementStatus): Promise<boolean> => {
    const key = objectKey(object);
    if (lastWritten.get(key) === statusKey(object, status)) return false;
    const { name, uid = "" } = object.metadata;
    const written = await client.apply(
      CLUSTER_ADVERTISEMENTS,
      { metadata: { name, namespace, uid }, status },
      { fieldManager: FIELD_MANAGER, force: true, subresource: "status" },
    );
    cache.assume(written);
    lastWritten.set(key, statusKey(written, status));
    for (const event of advertisementEvents(object, status)) recorder.record(event);
    return true;
  };

  const perform = async (
    object: ClusterAdvertisement,
    step: Exclude<AdvertisementStep, { kind: "done" }>,
  ): Promise<boolean> => {
    if (step.kind === "write-status") return writeStatus(object, step.status);
    if (step.kind === "advertise") await advertise(object, step);
    else if (step.kind === "refuse") refuse(object, "invalid", step.problem);
    else await setResources(object, step.resources);
    return true;
  };

  const loop = reconcileLoop(
    {
      name: "ClusterAdvertisement",
      concurrency: CONCURRENCY,
      reconcile: stepReconciler({ cache, isLeading, plan: planFor, nameOf: ({ kind }) => kind, perform }),
      resync: { everyMs: RESYNC_MS, keys: known.advertisements.keys },
    },
    { clock, random, log },
  );

  const follow = (clusterId: ClusterId): void => {
    const key = `${namespace}/${clusterAdvertisementName(clusterId)}`;
    if (known.advertisements.get(key) !== undefined) loop.enqueueAfter(key, STATUS_DELAY_MS);
  };
  const cleanups: (() => void)[] = [];
  return {
    start: () => {
      cleanups.push(
        known.advertisements.listen((key, now) => {
          if (now !== undefined) return loop.enqueue(key);
          outcomes.delete(key);
          lastWritten.delete(key);
        }),
        engine.onCommit(({ events }) => {
          for (const event of events) for (const id of clustersIn(event, engine.ledger)) follow(id);
        }),
      );
      for (const key of known.advertisements.keys()) loop.enqueue(key);
      return Promise.resolve();
    },
    stop: async () => {
      for (const end of cleanups.splice(0)) end();
      await loop.stop();
      cache.stop();
    },
  };
}

function versionKey(object: ClusterAdvertisement): string {
  return JSON.stringify([object.metadata.uid, versionFields(object)]);
}

function statusKey({ metadata }: ClusterAdvertisement, status: AdvertisementStatus): string {
  return JSON.stringify([metadata.resourceVersion, status], (name, value: unknown) =>
    name === "lastTransitionTime" ? undefined : value,
  );
}

/** The clusters whose account an event may have changed. */
function clustersIn(event: LedgerEvent, ledger: LedgerView): readonly ClusterId[] {
  if (event.kind === "advertised") return [event.advertisement.clusterId];
  if ("clusterId" in event) return [event.clusterId];
  const reservation =
    "reservation" in event ? event.reservation : ledger.reservations.get("id" in event ? event.id : "");
  return reservation === undefined ? [] : [reservation.requester, reservation.provider];
}
