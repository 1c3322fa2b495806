import { FOREIGN_CLUSTERS, tenantNamespaceOf } from "@resource-broker/agent/liqo";
import type { Clock, Log } from "@resource-broker/base";
import { informer, type ObjectName, reconcileLoop, SECRETS } from "@resource-broker/kube";
import { isUnreachableForever, writeForeignCluster, writeReachability } from "./foreign-clusters.ts";
import { reflectPod, runShadowPod } from "./guest-pods.ts";
import type { LiqoSite, LiqoState } from "./liqo-state.ts";
import { offloadNamespace } from "./offloading.ts";
import { controlPlaneSecret, hasIdentity, reconcileSecret } from "./peer-objects.ts";
import { provideSlice } from "./provide-slice.ts";
import { replicateSlice, type SliceAt } from "./replicate-slice.ts";
import { type AnyObject, FOLLOWED, type Task, tasksOf } from "./tasks.ts";
import { makeVirtualNode, runVirtualNode } from "./virtual-nodes.ts";

export interface ControllersDeps {
  readonly clock: Clock;
  readonly log: Log;
}

export interface Controllers {
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly pause: () => void;
  readonly resume: () => void;
  /** Everything that was ever heard of is looked at again, but what Liqo says of other clusters. */
  readonly requeueAll: () => void;
  /** Resolves with the next event of any cluster. */
  readonly nextChange: (signal: AbortSignal) => Promise<void>;
  readonly setNetwork: (consumerId: string, providerId: string, isThere: boolean) => void;
}

export function controllers(liqo: LiqoState, { clock, log }: ControllersDeps): Controllers {
  const networks = new Set<string>();
  const known = new Set<string>();
  const missed = new Set<string>();
  const waiting = new Set<() => void>();
  let isPaused = false;

  const perform = (task: Task): Promise<void> => {
    const site = liqo.site(task.site);
    return site === undefined ? Promise.resolve() : performAt(site, task);
  };
  const performAt = async (site: LiqoSite, task: Task): Promise<void> => {
    switch (task.kind) {
      case "slice": {
        const at = sliceAt(liqo, site, task.name);
        return at === undefined ? undefined : reconcileSlice(liqo, at);
      }
      case "virtual-node":
        return runVirtualNode(liqo, site, task.name);
      case "foreign":
        return writeForeign(site, task.other);
      case "credentials":
        return reconcileCredentials(site, task.other);
      case "offloading":
        return offloadNamespace(liqo, site, task.name.namespace);
      case "pod":
        return reflectPod(liqo, site, task.name);
      case "shadow-pod":
        return runShadowPod(site, task.name);
    }
  };

  const writeForeign = (site: LiqoSite, otherId: string): Promise<void> => {
    const isNetworked = networks.has([site.id, otherId].sort().join(" "));
    return writeForeignCluster(liqo, site, { otherId, isNetworked });
  };
  const reconcileCredentials = async (site: LiqoSite, otherId: string): Promise<void> => {
    const provider = liqo.site(otherId);
    if (provider === undefined) return;
    const secret = await site.client.find(SECRETS, controlPlaneSecret(otherId));
    const isThere = secret !== undefined && secret.metadata.deletionTimestamp === undefined;
    // The status of the Identity is written before the Secret is deleted.
    if (isThere && !(await hasIdentity(site, otherId))) await writeForeign(site, otherId);
    await reconcileSecret(
      { consumer: site, provider },
      {
        isDead: await isUnreachableForever(liqo, site, otherId),
        isReachable: liqo.isReachable(otherId),
        onGone: () => void liqo.missedDeletions.add(`${site.id} ${otherId}`),
      },
    );
    await writeReachability(liqo, site, otherId);
  };

  const loop = reconcileLoop(
    {
      name: "objects of Liqo",
      reconcile: async (key) => {
        if (isPaused) missed.add(key);
        else await perform(JSON.parse(key) as Task);
        return {};
      },
    },
    { clock, random: () => 0, log },
  );
  const enqueue = (task: Task): void => {
    const key = JSON.stringify(task);
    if (task.kind !== "foreign") known.add(key);
    loop.enqueue(key);
  };
  const requeueAll = (): void => {
    for (const key of known) loop.enqueue(key);
  };
  const informers = liqo.sites.flatMap((site) =>
    FOLLOWED.map((resource) => {
      const options = { resource, transform: (object: AnyObject) => object };
      const following = informer(options, { client: site.client, clock, random: () => 0, log });
      following.listen((_, now, before) => {
        for (const task of tasksOf(resource, site.id, { now, before })) {
          // Work queued before the deletion of the Secret does not report it; a changed ForeignCluster does.
          if (task.kind === "foreign" && resource.plural === FOREIGN_CLUSTERS.plural && before !== undefined)
            liqo.missedDeletions.delete(`${task.site} ${task.other}`);
          enqueue(task);
        }
        // These worlds are small: what else the change may matter to is found by looking.
        requeueAll();
        for (const tell of waiting) tell();
      });
      return following;
    }),
  );

  return {
    start: async () => {
      for (const { id } of liqo.sites)
        for (const other of liqo.sites.filter((each) => each.id !== id)) {
          enqueue({ kind: "foreign", site: id, other: other.id });
          enqueue({ kind: "credentials", site: id, other: other.id });
        }
      await Promise.all(informers.map((each) => each.start()));
    },
    stop: async () => {
      await Promise.all(informers.map((each) => each.stop()));
      await loop.stop();
    },
    pause: () => {
      isPaused = true;
    },
    resume: () => {
      isPaused = false;
      for (const key of missed) loop.enqueue(key);
      missed.clear();
    },
    requeueAll,
    nextChange: (signal) =>
      new Promise((resolve, reject) => {
        const done = (): void => {
          waiting.delete(done);
          signal.removeEventListener("abort", broken);
          resolve();
        };
        const broken = (): void => {
          waiting.delete(done);
          reject(new Error("it was broken off"));
        };
        waiting.add(done);
        signal.addEventListener("abort", broken, { once: true });
        if (signal.aborted) broken();
      }),
    setNetwork: (consumerId, providerId, isThere) => {
      const pair = [consumerId, providerId].sort().join(" ");
      if (isThere) networks.add(pair);
      else networks.delete(pair);
      liqo.missedDeletions.delete(`${consumerId} ${providerId}`);
      liqo.missedDeletions.delete(`${providerId} ${consumerId}`);
      enqueue({ kind: "foreign", site: consumerId, other: providerId });
      enqueue({ kind: "foreign", site: providerId, other: consumerId });
    },
  };
}

/** The whole way of a slice: each step finds what the one before it left. */
async function reconcileSlice(liqo: LiqoState, at: SliceAt): Promise<void> {
  await replicateSlice(liqo, at);
  await provideSlice(liqo, at);
  await makeVirtualNode(liqo, at);
}

/** The provider of a slice is the one whose namespace it is in. */
function sliceAt(liqo: LiqoState, consumer: LiqoSite, name: Required<ObjectName>): SliceAt | undefined {
  const provider = liqo.sites.find(({ id }) => tenantNamespaceOf(id) === name.namespace);
  return provider === undefined ? undefined : { consumer, provider, name };
}
