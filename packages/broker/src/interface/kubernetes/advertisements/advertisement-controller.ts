import { formatTime } from "@resource-broker/base";
import type { ClusterAdvertisement } from "@resource-broker/contract/crd";
import { objectKey } from "@resource-broker/kube";
import { ADVERTISEMENT_OWNERSHIP, type AdvertisementOutcome } from "../builders/advertisement-status.ts";
import { advertisementEvents } from "../builders/events.ts";
import { CLUSTER_ADVERTISEMENTS, trimAdvertisement } from "../objects/object-informers.ts";
import { FIELD_MANAGER, type KindDeps, type ProjectionOptions } from "../ports.ts";
import { type Controller, controller } from "../projection/controller.ts";
import { versionFields, watchRemovedLabels } from "./advertisement-owner.ts";
import { minimalAdvertisement } from "./advertisement-view.ts";
import { type AdvertisementCall, type AdvertisementStep, planAdvertisement } from "./plan-advertisement.ts";

export interface AdvertisementController extends Controller {
  /** Call it at every poll: writes views that differ only in the time of the last advertisement, when nothing else waits. */
  readonly refreshSome: () => void;
}

/** Accepts ClusterAdvertisements of agents and answers them, and shows the clusters that advertise over HTTP. */
export function advertisementController(options: ProjectionOptions, deps: KindDeps): AdvertisementController {
  const { namespace } = options;
  const { engine, client, known, signal } = deps;
  const removedLabels = watchRemovedLabels(known.advertisements);
  /** Outcomes of accepted or refused advertisements whose status is not written yet. */
  const outcomes = new Map<string, { readonly version: string; readonly outcome: AdvertisementOutcome }>();
  /** Views that are correct except for the time of the last advertisement. */
  const outdated = new Set<string>();
  const refreshDue = new Set<string>();

  const plan = (name: string, object: ClusterAdvertisement | undefined): AdvertisementStep => {
    const { ledger, ledgerId, policy } = engine;
    const own = object && outcomes.get(objectKey(object));
    const step = planAdvertisement({
      ...options,
      name,
      object,
      ledger,
      ledgerId,
      policy,
      now: engine.now(),
      outcome: own?.version === (object && versionKey(object)) ? own?.outcome : undefined,
      isLabelRemoved: removedLabels.has(name),
      isRefreshDue: refreshDue.has(name),
    });
    if (step.isOutdated === true) outdated.add(name);
    else outdated.delete(name);
    // A view that is being written gets its times too.
    if (step.kind === "show") refreshDue.add(name);
    else refreshDue.delete(name);
    return step;
  };

  const setOutcome = (object: ClusterAdvertisement, outcome: AdvertisementOutcome): void =>
    void outcomes.set(objectKey(object), { version: versionKey(object), outcome });
  const refuse = (object: ClusterAdvertisement, code: string, message: string): void => {
    const { accepted } = object.status ?? {};
    const refused = { ...versionFields(object.spec), code, message };
    setOutcome(object, accepted === undefined ? { refused } : { accepted, refused });
  };
  const call = async (
    object: ClusterAdvertisement,
    step: AdvertisementCall,
  ): Promise<ClusterAdvertisement> => {
    if (step.kind === "refuse") {
      refuse(object, "invalid", step.problem);
      return object;
    }
    const reply = await engine.submit(step);
    if (reply.kind === "rejected") refuse(object, reply.code, reply.message);
    else setOutcome(object, { accepted: { ...versionFields(object.spec), at: formatTime(engine.now()) } });
    return object;
  };

  const served = controller<ClusterAdvertisement, AdvertisementCall>(
    {
      name: "ClusterAdvertisement",
      what: "showing clusters",
      resource: CLUSTER_ADVERTISEMENTS,
      ownership: ADVERTISEMENT_OWNERSHIP,
      namespace,
      known: known.advertisements,
      trim: trimAdvertisement,
      create: (desired) =>
        client.apply(CLUSTER_ADVERTISEMENTS, minimalAdvertisement(desired), {
          fieldManager: FIELD_MANAGER,
          force: true,
          signal,
        }),
      eventsFor: advertisementEvents,
      onGone: (key) => outcomes.delete(key),
      plan,
      calls: () => call,
    },
    deps,
  );
  const refresh = refresher(outdated, (name) => {
    refreshDue.add(name);
    served.enqueueSlowly(name);
  });
  return {
    ...served,
    refreshSome: () => {
      if (!served.isShowing()) refresh();
    },
    stop: async () => {
      await served.stop();
      removedLabels.stop();
    },
  };
}

function versionKey({ metadata, spec }: ClusterAdvertisement): string {
  return JSON.stringify([metadata.uid, versionFields(spec)]);
}

/** A view that differs only in the time of the last advertisement is written after this many polls, if no other write waits. */
const REFRESH_EVERY_POLLS = 30;
const REFRESHED_AT_ONCE = 4;

/** Refreshes outdated views, oldest first, a few per poll, and each at most once in a while. */
function refresher(outdated: Set<string>, refresh: (name: string) => void): () => void {
  const since = new Map<string, number>();
  let polls = 0;
  return () => {
    polls++;
    for (const name of since.keys()) if (!outdated.has(name)) since.delete(name);
    for (const name of outdated) if (!since.has(name)) since.set(name, polls);
    let left = REFRESHED_AT_ONCE;
    for (const [name, found] of since) {
      if (left === 0 || polls - found < REFRESH_EVERY_POLLS) break;
      left--;
      since.delete(name);
      outdated.delete(name);
      refresh(name);
    }
  };
}
