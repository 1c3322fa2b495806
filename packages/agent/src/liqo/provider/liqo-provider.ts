import { type ReflectorDeps, reconcileLoop } from "@resource-broker/kube";
import type { ProviderContext, ProviderDataPlane } from "../../data-plane/data-plane.ts";
import { liqoIdentity } from "../identity/liqo-identity.ts";
import { brokerLookups } from "./broker-lookups.ts";
import { guestPods, replicas } from "./liqo-informers.ts";
import { sliceReconciler } from "./slice-reconciler.ts";

type SliceControllerDeps = ReflectorDeps & Omit<ProviderContext, "onIdentity">;

/** Grants and revokes slices, while Liqo is installed. */
interface SliceController {
  /** Starts or stops the informers: without Liqo the API server does not serve these kinds. */
  readonly setPresent: (isPresent: boolean) => void;
  readonly stop: () => Promise<void>;
}

const NOT_READY_RETRY_MS = 100;
/** Tenants and namespaces are not watched: their changes take effect at the next resync. */
const RESYNC_MS = 60_000;

export function sliceController(isEnforcing: boolean, deps: SliceControllerDeps): SliceController {
  let end: (() => Promise<void>) | undefined;
  let ended: Promise<unknown> = Promise.resolve();

  const stopWork = (): void => {
    const last = end;
    end = undefined;
    if (last !== undefined) ended = Promise.all([ended, last()]);
  };

  return {
    setPresent: (isPresent) => {
      if (!isPresent) stopWork();
      else end ??= work(isEnforcing, deps);
    },
    stop: async () => {
      stopWork();
      await ended;
    },
  };
}

/** Returns the function that stops it. */
function work(isEnforcing: boolean, deps: SliceControllerDeps): () => Promise<void> {
  const slices = replicas(deps);
  const guests = guestPods(deps);
  const { reconcile } = sliceReconciler({
    ...deps,
    replicas: slices,
    guests,
    lookups: brokerLookups(deps),
    broker: deps.link.view,
    terms: { counted: deps.resources },
    isEnforcing,
  });
  const isReady = (): boolean => deps.isReady() && slices.synced() && guests.synced();
  const loop = reconcileLoop(
    {
      name: "slices",
      concurrency: 4,
      reconcile: async (name) => (isReady() ? reconcile(name) : { requeueAfterMs: NOT_READY_RETRY_MS }),
      resync: {
        everyMs: RESYNC_MS,
        keys: () => new Set([...slices.names(), ...guests.sliceNames()]),
      },
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

interface LiqoProviderOptions {
  /** Where Liqo is installed. */
  readonly namespace: string;
  /** Cordons slices of classes that bypass reservations. */
  readonly isEnforcing: boolean;
}

/** The provider's half of Liqo: the cluster's identity, and the slices that it grants. */
export function liqoProvider(
  options: LiqoProviderOptions,
  deps: ProviderContext & ReflectorDeps,
): ProviderDataPlane {
  const identity = liqoIdentity(options, deps);
  const provider = sliceController(options.isEnforcing, deps);
  identity.onChange(() => {
    provider.setPresent(identity.current() !== undefined);
    deps.onIdentity();
  });
  return {
    start: identity.start,
    stop: async () => {
      await identity.stop();
      await provider.stop();
    },
    identity: identity.current,
  };
}
