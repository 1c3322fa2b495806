import type { Offload } from "../../data-plane/data-plane.ts";
import { MANAGED_BY_LABEL, MANAGER } from "../../forge/labels.ts";
import { LIQO_LABEL } from "../objects/labels.ts";
import { NAMESPACE_OFFLOADING_NAME, type NamespaceOffloading } from "../objects/namespace-offloading.ts";
import type { LoanWish } from "./loan-wish.ts";

/** What one namespace has: a NamespaceOffloading, none, or it is not even there. */
export interface OffloadSight {
  readonly namespace: string;
  readonly isThere: boolean;
  readonly offloading: NamespaceOffloading | undefined;
}

export type OffloadStep =
  | { readonly kind: "done" }
  | {
      readonly kind: "write";
      /** `create` where there was none; else it carries the version that it changes. */
      readonly how: "create" | "update";
      readonly offloading: NamespaceOffloading;
    }
  | { readonly kind: "obstacle"; readonly reason: string; readonly message: string };

/** The reservations that need it, each with the provider's Liqo ID: pods of one namespace may use several loans. */
const CLAIM = "offload.rear.fluidos.eu/";
const DEFAULT_STRATEGY = "LocalAndRemote";

/** What to do next so that pods of the wanted namespaces may run at the provider. */
export function planOffload(wish: LoanWish, sights: readonly OffloadSight[]): OffloadStep {
  const { offload } = wish;
  if (offload === undefined) return { kind: "done" };
  const steps = sights.map((sight) => stepFor(wish, offload, sight));
  // What can be done is done, also when another namespace stands in the way of being ready.
  return (
    steps.find(({ kind }) => kind === "write") ??
    steps.find(({ kind }) => kind === "obstacle") ?? { kind: "done" }
  );
}

function stepFor(wish: LoanWish, offload: Offload, sight: OffloadSight): OffloadStep {
  const { namespace, isThere, offloading } = sight;
  const { podOffloadingStrategy: strategy = DEFAULT_STRATEGY } = offload;
  if (!isThere) return obstacle("NamespaceMissing", `namespace ${namespace} is not there: create it`);
  if (offloading === undefined)
    return write("create", namespace, { claims: { [wish.id]: wish.liqoId }, strategy });
  const where = `NamespaceOffloading ${namespace}/${NAMESPACE_OFFLOADING_NAME}`;
  if (!isOurs(offloading)) {
    const remedy = "remove the namespace from spec.offload, or delete that object";
    return obstacle("OffloadingConflict", `${where} was made by somebody else and is left alone: ${remedy}`);
  }
  if (offloading.metadata.deletionTimestamp !== undefined) {
    return obstacle("OffloadingTerminating", `${where} is being deleted; a new one is made when it is gone`);
  }
  if (offloading.spec.podOffloadingStrategy !== strategy) {
    const has = `has podOffloadingStrategy ${offloading.spec.podOffloadingStrategy} for other reservations`;
    return obstacle("OffloadingConflict", `${where} ${has}: ask for the same, or use another namespace`);
  }
  const claims = claimsOf(offloading);
  if (claims[wish.id] === wish.liqoId) return { kind: "done" };
  return write("update", namespace, {
    claims: { ...claims, [wish.id]: wish.liqoId },
    strategy,
    before: offloading,
  });
}

/** What is left of it when a reservation ends; undefined: nobody else needs it. */
export function withoutClaim(offloading: NamespaceOffloading, id: string): NamespaceOffloading | undefined {
  const { [id]: _, ...claims } = claimsOf(offloading);
  if (Object.keys(claims).length === 0) return undefined;
  const { namespace = "" } = offloading.metadata;
  const { podOffloadingStrategy: strategy = DEFAULT_STRATEGY } = offloading.spec;
  return forge(namespace, { claims, strategy, before: offloading });
}

/** The reservations that need it; none for what a person made. */
export function claimantsOf(offloading: NamespaceOffloading): string[] {
  return isOurs(offloading) ? Object.keys(claimsOf(offloading)).sort() : [];
}

interface Wanted {
  readonly claims: Readonly<Record<string, string>>;
  readonly strategy: NonNullable<NamespaceOffloading["spec"]["podOffloadingStrategy"]>;
  readonly before?: NamespaceOffloading;
}

function write(how: "create" | "update", namespace: string, wanted: Wanted): OffloadStep {
  return { kind: "write", how, offloading: forge(namespace, wanted) };
}

function obstacle(reason: string, message: string): OffloadStep {
  return { kind: "obstacle", reason, message };
}

function forge(namespace: string, { claims, strategy, before }: Wanted): NamespaceOffloading {
  const others = Object.entries(before?.metadata.annotations ?? {}).filter(([key]) => !key.startsWith(CLAIM));
  const ours = Object.entries(claims).map(([id, liqoId]): [string, string] => [`${CLAIM}${id}`, liqoId]);
  return {
    apiVersion: "offloading.liqo.io/v1beta1",
    kind: "NamespaceOffloading",
    metadata: {
      ...before?.metadata,
      name: NAMESPACE_OFFLOADING_NAME,
      namespace,
      labels: { ...before?.metadata.labels, [MANAGED_BY_LABEL]: MANAGER },
      annotations: Object.fromEntries([...others, ...ours]),
    },
    spec: {
      namespaceMappingStrategy: "DefaultName",
      ...before?.spec,
      podOffloadingStrategy: strategy,
      clusterSelector: {
        nodeSelectorTerms: [
          {
            matchExpressions: [
              {
                key: LIQO_LABEL.remoteCluster,
                operator: "In",
                values: [...new Set(Object.values(claims))].sort(),
              },
            ],
          },
        ],
      },
    },
  };
}

function isOurs({ metadata }: NamespaceOffloading): boolean {
  return metadata.labels?.[MANAGED_BY_LABEL] === MANAGER;
}

function claimsOf({ metadata }: NamespaceOffloading): Record<string, string> {
  const claims = Object.entries(metadata.annotations ?? {}).filter(([key]) => key.startsWith(CLAIM));
  return Object.fromEntries(claims.map(([key, liqoId]) => [key.slice(CLAIM.length), liqoId]));
}
