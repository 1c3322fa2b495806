import { type ClusterAdvertisement, KUBE_LABEL } from "@resource-broker/contract";
import type { AccountView } from "@resource-broker/domain";
import type { ReconcileResult } from "@resource-broker/kube";
import { advertisementHappenings } from "../forge/happenings.ts";
import { keptAdvertisement } from "../objects/known-objects.ts";
import { newestObjects } from "../objects/newest-objects.ts";
import { CLUSTER_ADVERTISEMENTS } from "../objects/resources.ts";
import { FIELD_MANAGER } from "../ports.ts";
import { type Claim, ownerOf } from "./advertisement-owner.ts";
import {
  ADVERTISEMENT_LAYERS,
  ADVERTISEMENT_SHARE,
  advertisementPicture,
  asOldAs,
  beginning,
  clusterOf,
  hasAdvertised,
  pictureStatus,
  statusAsOldAs,
} from "./advertisement-view.ts";
import type { KindOfView, ViewsDeps, ViewsOptions } from "./kind-of-view.ts";
import { painter } from "./painter.ts";
import { isPainted, statusGap } from "./picture.ts";
import { tornLabels } from "./torn-labels.ts";

export interface AdvertisementViews extends KindOfView {
  /** Views that are correct except for the time of the last advertisement. */
  readonly outdated: Set<string>;
  /** The next round writes this one even if it is only outdated. */
  readonly refresh: (name: string) => void;
}

/** Views of the clusters that advertise over HTTP. */
export function advertisementViews(
  { namespace, objects }: ViewsOptions,
  deps: ViewsDeps,
): AdvertisementViews {
  const { engine, client, known, recorder, signal } = deps;
  const newest = newestObjects(known.advertisements, keptAdvertisement);
  const brush = painter(
    {
      resource: CLUSTER_ADVERTISEMENTS,
      share: ADVERTISEMENT_SHARE,
      layers: ADVERTISEMENT_LAYERS,
      create: (wanted) =>
        client.apply(CLUSTER_ADVERTISEMENTS, beginning(wanted), {
          fieldManager: FIELD_MANAGER,
          force: true,
          signal,
        }),
    },
    { ...deps, wrote: newest.wrote },
  );
  const torn = tornLabels(known.advertisements);
  const outdated = new Set<string>();
  const due = new Set<string>();

  const telling = () => ({ now: engine.now(), policy: engine.policy, ledgerId: engine.ledgerId });
  const paintStatus = async (
    account: AccountView | undefined,
    object: ClusterAdvertisement,
  ): Promise<void> => {
    const status = pictureStatus(account, object, telling());
    const isNews = await brush.paintStatus(status, object);
    if (isNews) for (const happening of advertisementHappenings(object, status)) recorder.record(happening);
  };
  /** True if only the time of the last advertisement differs; such views are written rarely. */
  const isOnlyOutdated = (account: AccountView, object: ClusterAdvertisement): boolean => {
    if (!hasAdvertised(account)) return false;
    if (!isPainted(asOldAs(advertisementPicture(account, namespace), object), object)) return false;
    const status = statusAsOldAs(pictureStatus(account, object, telling()), object);
    return !statusGap(status, object.status ?? {}, ADVERTISEMENT_SHARE).isOpen;
  };

  const show = async (
    name: string,
    account: AccountView,
    object: ClusterAdvertisement | undefined,
  ): Promise<void> => {
    if (!hasAdvertised(account)) return;
    const wanted = advertisementPicture(account, namespace);
    if (object !== undefined && !due.has(name) && isOnlyOutdated(account, object)) {
      if (!isPainted(wanted, object)) outdated.add(name);
      return;
    }
    const painted = await brush.paint(wanted, object);
    if (painted !== undefined) await paintStatus(account, painted);
    outdated.delete(name);
    due.delete(name);
  };

  const keep = async (claim: Claim): Promise<void> => {
    const { object, account } = claim;
    const { name, labels } = object.metadata;
    const owner = ownerOf(claim);
    if (owner === "agent") return;
    if (owner === "handed-over") await brush.giveUp(object);
    else if (object.spec.clusterID !== clusterOf(name)) await brush.remove(object);
    else if (hasAdvertised(account)) await show(name, account, object);
    else if (labels?.[KUBE_LABEL.view] === "true") await paintStatus(account, object);
  };

  const reconcile = async (name: string): Promise<ReconcileResult> => {
    const object = newest.get(`${namespace}/${name}`);
    if (object?.metadata.deletionTimestamp !== undefined) return {};
    const live = engine.ledger.accounts.get(clusterOf(name) ?? "");
    // Accounts are mutable: copy the account, so that one write is consistent.
    const account = live && { ...live };
    if (object !== undefined) await keep({ object, account, objects, isTorn: torn.has(name) });
    else if (account !== undefined) await show(name, account, undefined);
    return {};
  };

  return {
    reconcile,
    outdated,
    refresh: (name) => {
      outdated.delete(name);
      due.add(name);
    },
    stop: () => {
      torn.stop();
      newest.stop();
    },
  };
}
