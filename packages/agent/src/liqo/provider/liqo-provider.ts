import { type ReflectorDeps, reconcileLoop } from "@resource-broker/kube";
import type { ProviderContext, ProviderDataPlane } from "../../data-plane/data-plane.ts";
import { liqoIdentity } from "../identity.ts";
import type { ResourceSlice } from "../objects.ts";
import { guestPods, replicas } from "./liqo-informers.ts";
import { sliceReconciler } from "./slice-reconciler.ts";

type ProviderDeps = ReflectorDeps &
  ProviderContext & {
    /** Called with each replica before it is looked at; again later if it rejects. */
    readonly checkReplica?: (slice: ResourceSlice) => Promise<void>;
  };

const NOT_READY_RETRY_MS = 100;
/** Tenants and namespaces are not watched: their changes take effect at the next resync. */
const RESYNC_MS = 60_000;

interface LiqoProviderOptions {
  /** Where Liqo is installed. */
  readonly namespace: string;
  /** Cordons slices of classes that bypass reservations. */
  readonly isEnforcing: boolean;
}

/** The provider's half of Liqo: the cluster's identity and, while Liqo is installed, the slices that it grants. */
export function liqoProvider(
  { namespace, isEnforcing }: LiqoProviderOptions,
  deps: ProviderDeps,
): ProviderDataPlane {
  let stopSlices: (() => Promise<void>) | undefined;
  let stopped: Promise<unknown> = Promise.resolve();
  const onChange = (): void => {
    // Without Liqo the API server does not serve these kinds.
    if (liqo.identity() === undefined) stopWork();
    else stopSlices ??= startSlices(isEnforcing, deps);
    deps.onIdentity();
  };
  const stopWork = (): void => {
    stopped = Promise.all([stopped, stopSlices?.()]);
    stopSlices = undefined;
  };
  const liqo = liqoIdentity(namespace, { ...deps, onChange });
  return {
    start: liqo.start,
    stop: async () => {
      await liqo.stop();
      stopWork();
      await stopped;
    },
    identity: liqo.identity,
  };
}

/** Grants and revokes slices until the returned function is called. */
function startSlices(isEnforcing: boolean, deps: ProviderDeps): () => Promise<void> {
  const [slices, guests] = [replicas(deps), guestPods(deps)];
  const reconcile = sliceReconciler({ ...deps, replicas: slices, guests, isEnforcing });
  const isReady = (): boolean => deps.isReady() && slices.synced() && guests.synced();
  const { checkReplica = async () => undefined } = deps;
  const loop = reconcileLoop(
    {
      name: "slices",
      concurrency: 4,
      reconcile: async (name) => {
        await Promise.all(slices.named(name).map(checkReplica));
        return isReady() ? await reconcile(name) : { requeueAfterMs: NOT_READY_RETRY_MS };
      },
      resync: { everyMs: RESYNC_MS, keys: () => new Set([...slices.names(), ...guests.names()]) },
    },
    { ...deps, observer: { onRetry: deps.onRetry } },
  );
  const endings = [
    slices.listen(loop.enqueue),
    guests.listen(loop.enqueue),
    deps.cache.onChange((role, id) => {
      if (role === "provider") loop.enqueue(id);
    }),
  ];
  // Rejects only when it is stopped before the first list; the informer logs its own failures.
  for (const each of [slices, guests]) void each.start().catch(() => undefined);

  return async () => {
    for (const endListening of endings) endListening();
    await loop.stop();
    await Promise.all([slices.stop(), guests.stop()]);
  };
}
