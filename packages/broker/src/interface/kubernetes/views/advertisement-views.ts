import { type ClusterAdvertisement, KUBE_LABEL } from "@resource-broker/contract/crd";
import type { AccountView } from "@resource-broker/domain";
import type { ReconcileResult } from "@resource-broker/kube";
import { hasAdvertised } from "../../shared/advertised-account.ts";
import { advertisementEvents } from "../builders/events.ts";
import { assumeCache } from "../objects/assume-cache.ts";
import { CLUSTER_ADVERTISEMENTS, trimAdvertisement } from "../objects/object-informers.ts";
import { FIELD_MANAGER } from "../ports.ts";
import { type OwnershipCase, ownerOf, watchRemovedLabels } from "./advertisement-owner.ts";
import {
  ADVERTISEMENT_LAYERS,
  ADVERTISEMENT_OWNERSHIP,
  clusterOf,
  desiredAdvertisement,
  desiredAdvertisementStatus,
  minimalAdvertisement,
  withStatusTimesOf,
  withTimesOf,
} from "./advertisement-view.ts";
import { isUpToDate, statusDiff } from "./desired-object.ts";
import { type ViewController, type ViewsDeps, type ViewsOptions, viewWriter } from "./view-writer.ts";

export interface AdvertisementViews extends ViewController {
  /** Views that are correct except for the time of the last advertisement. */
  readonly outdated: Set<string>;
  /** The next reconcile writes the view even if only the time differs. */
  readonly refresh: (name: string) => void;
}

/** Views of the clusters that advertise over HTTP. */
export function advertisementViews(
  { namespace, objects }: ViewsOptions,
  deps: ViewsDeps,
): AdvertisementViews {
  const { engine, client, known, recorder, signal } = deps;
  const cache = assumeCache(known.advertisements, trimAdvertisement);
  const writer = viewWriter(
    {
      resource: CLUSTER_ADVERTISEMENTS,
      ownership: ADVERTISEMENT_OWNERSHIP,
      layers: ADVERTISEMENT_LAYERS,
      create: (wanted) =>
        client.apply(CLUSTER_ADVERTISEMENTS, minimalAdvertisement(wanted), {
          fieldManager: FIELD_MANAGER,
          force: true,
          signal,
        }),
    },
    { ...deps, assume: cache.assume },
  );
  const removedLabels = watchRemovedLabels(known.advertisements);
  const outdated = new Set<string>();
  const refreshDue = new Set<string>();

  const statusContext = () => ({ now: engine.now(), policy: engine.policy, ledgerId: engine.ledgerId });
  const writeStatus = async (
    account: AccountView | undefined,
    object: ClusterAdvertisement,
  ): Promise<void> => {
    const status = desiredAdvertisementStatus(account, object, statusContext());
    const isChanged = await writer.applyStatus(status, object);
    if (isChanged) for (const event of advertisementEvents(object, status)) recorder.record(event);
  };
  /** True if only the time of the last advertisement differs; such views are written rarely. */
  const isOnlyOutdated = (account: AccountView, object: ClusterAdvertisement): boolean => {
    if (!hasAdvertised(account)) return false;
    if (!isUpToDate(withTimesOf(desiredAdvertisement(account, namespace), object), object)) return false;
    const status = withStatusTimesOf(desiredAdvertisementStatus(account, object, statusContext()), object);
    return !statusDiff(status, object.status ?? {}, ADVERTISEMENT_OWNERSHIP).isDifferent;
  };

  const applyView = async (
    name: string,
    account: AccountView,
    object: ClusterAdvertisement | undefined,
  ): Promise<void> => {
    if (!hasAdvertised(account)) return;
    const desired = desiredAdvertisement(account, namespace);
    if (object !== undefined && !refreshDue.has(name) && isOnlyOutdated(account, object)) {
      if (!isUpToDate(desired, object)) outdated.add(name);
      return;
    }
    const written = await writer.apply(desired, object);
    if (written !== undefined) await writeStatus(account, written);
    outdated.delete(name);
    refreshDue.delete(name);
  };

  const updateExisting = async (ownership: OwnershipCase): Promise<void> => {
    const { object, account } = ownership;
    const { name, labels } = object.metadata;
    const owner = ownerOf(ownership);
    if (owner === "agent") return;
    if (owner === "handed-over") await writer.removeViewLabel(object);
    else if (object.spec.clusterID !== clusterOf(name)) await writer.remove(object);
    else if (hasAdvertised(account)) await applyView(name, account, object);
    else if (labels?.[KUBE_LABEL.view] === "true") await writeStatus(account, object);
  };

  const reconcile = async (name: string): Promise<ReconcileResult> => {
    const object = cache.get(`${namespace}/${name}`);
    if (object?.metadata.deletionTimestamp !== undefined) return {};
    const inLedger = engine.ledger.accounts.get(clusterOf(name) ?? "");
    // Accounts are mutable: copy the account, so that one write is consistent.
    const account = inLedger && { ...inLedger };
    if (object !== undefined)
      await updateExisting({ object, account, objects, isLabelRemoved: removedLabels.has(name) });
    else if (account !== undefined) await applyView(name, account, undefined);
    return {};
  };

  return {
    reconcile,
    outdated,
    refresh: (name) => {
      outdated.delete(name);
      refreshDue.add(name);
    },
    stop: () => {
      removedLabels.stop();
      cache.stop();
    },
  };
}
