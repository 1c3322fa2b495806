import { type ClusterAdvertisement, clusterAdvertisementName, formatTime } from "@resource-broker/contract";
import type { ClusterId, LedgerEvent, LedgerView } from "@resource-broker/domain";
import { objectKey, reconcileLoop } from "@resource-broker/kube";
import type { AdvertisementStatus, Receipt } from "../forge/advertisement-status.ts";
import { advertisementHappenings } from "../forge/happenings.ts";
import { type FollowedObjects, keptAdvertisement } from "../objects/known-objects.ts";
import { newestObjects } from "../objects/newest-objects.ts";
import { CLUSTER_ADVERTISEMENTS } from "../objects/resources.ts";
import { stepByStep } from "../objects/step-by-step.ts";
import { FIELD_MANAGER, type KubernetesDeps, type KubernetesPart } from "../ports.ts";
import { type AdvertisementStep, planAdvertisement, stampOf } from "./plan-advertisement.ts";

const CONCURRENCY = 16;
const RESYNC_MS = 60_000;
/** Delay before a status is written, because the available capacity may change many times per second. */
const GATHER_MS = 250;

/** Accepts ClusterAdvertisements of agents and writes the broker's fields and status to them. */
export function serveAdvertisements(
  { namespace }: { readonly namespace: string },
  deps: KubernetesDeps & { readonly known: FollowedObjects },
): KubernetesPart {
  const { engine, client, known, clock, random, log, recorder, isLeading } = deps;
  const newest = newestObjects(known.advertisements, keptAdvertisement);
  /** Outcomes of accepted or refused advertisements whose status is not written yet. */
  const receipts = new Map<string, { readonly stamp: string; readonly receipt: Receipt }>();
  const told = new Map<string, string>();

  const planFor = (object: ClusterAdvertisement, key: string): AdvertisementStep => {
    const { ledger, ledgerId, policy } = engine;
    const own = receipts.get(key);
    const receipt = own?.stamp === stampText(object) ? own.receipt : undefined;
    return planAdvertisement({ object, ledger, ledgerId, policy, now: engine.now(), receipt });
  };

  const receive = (object: ClusterAdvertisement, receipt: Receipt): void =>
    void receipts.set(objectKey(object), { stamp: stampText(object), receipt });

  const turnAway = (object: ClusterAdvertisement, code: string, message: string): void => {
    const { accepted } = object.status ?? {};
    const refused = { ...stampOf(object), code, message };
    receive(object, accepted === undefined ? { refused } : { accepted, refused });
  };

  const advertise = async (
    object: ClusterAdvertisement,
    { advertisement }: Extract<AdvertisementStep, { kind: "advertise" }>,
  ): Promise<void> => {
    const reply = await engine.submit({ kind: "advertise", advertisement });
    if (reply.kind === "rejected") turnAway(object, reply.code, reply.message);
    else receive(object, { accepted: { ...stampOf(object), at: formatTime(engine.now()) } });
  };

  const setResources = async (object: ClusterAdvertisement, resources: object): Promise<void> => {
    const { name, uid } = object.metadata;
    const body = { metadata: { uid }, spec: { resources } };
    const change = { name: { name, namespace }, patch: { kind: "merge", body } } as const;
    newest.wrote(await client.patch(CLUSTER_ADVERTISEMENTS, change, { fieldManager: FIELD_MANAGER }));
  };

  /** Returns false if the same status was written before: the server does not keep all of its fields. */
  const tell = async (object: ClusterAdvertisement, status: AdvertisementStatus): Promise<boolean> => {
    const key = objectKey(object);
    if (told.get(key) === tellingText(object, status)) return false;
    const { name, uid = "" } = object.metadata;
    const written = await client.apply(
      CLUSTER_ADVERTISEMENTS,
      { metadata: { name, namespace, uid }, status },
      { fieldManager: FIELD_MANAGER, force: true, subresource: "status" },
    );
    newest.wrote(written);
    told.set(key, tellingText(written, status));
    for (const happening of advertisementHappenings(object, status)) recorder.record(happening);
    return true;
  };

  const perform = async (
    object: ClusterAdvertisement,
    step: Exclude<AdvertisementStep, { kind: "rest" }>,
  ): Promise<boolean> => {
    if (step.kind === "tell") return tell(object, step.status);
    if (step.kind === "advertise") await advertise(object, step);
    else if (step.kind === "turn-away") turnAway(object, "invalid", step.problem);
    else await setResources(object, step.resources);
    return true;
  };

  const loop = reconcileLoop(
    {
      name: "ClusterAdvertisement",
      concurrency: CONCURRENCY,
      reconcile: stepByStep({ newest, isLeading, plan: planFor, nameOf: ({ kind }) => kind, perform }),
      resync: { everyMs: RESYNC_MS, keys: known.advertisements.keys },
    },
    { clock, random, log },
  );

  const follow = (clusterId: ClusterId): void => {
    const key = `${namespace}/${clusterAdvertisementName(clusterId)}`;
    if (known.advertisements.get(key) !== undefined) loop.enqueueAfter(key, GATHER_MS);
  };
  const endings: (() => void)[] = [];
  return {
    start: () => {
      endings.push(
        known.advertisements.listen((key, now) => {
          if (now !== undefined) return loop.enqueue(key);
          receipts.delete(key);
          told.delete(key);
        }),
        engine.onCommit(({ events }) => {
          for (const event of events) for (const id of clustersIn(event, engine.ledger)) follow(id);
        }),
      );
      for (const key of known.advertisements.keys()) loop.enqueue(key);
      return Promise.resolve();
    },
    stop: async () => {
      for (const end of endings.splice(0)) end();
      await loop.stop();
      newest.stop();
    },
  };
}

function stampText(object: ClusterAdvertisement): string {
  return JSON.stringify([object.metadata.uid, stampOf(object)]);
}

function tellingText({ metadata }: ClusterAdvertisement, status: AdvertisementStatus): string {
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
