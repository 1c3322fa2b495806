import type {
  ProviderInstruction,
  ReservationInstruction,
  ResourceRequest,
} from "@resource-broker/contract/crd";
import { type Informer, informer, type ReflectorDeps } from "@resource-broker/kube";
import { providerInstructionName } from "../manifests/instructions.ts";
import { PROVIDER_INSTRUCTIONS, RESERVATION_INSTRUCTIONS, RESOURCE_REQUESTS } from "../manifests/labels.ts";

/** The agent's own kinds, watched in its cluster. */
export interface AgentObjects {
  readonly requests: Informer<ResourceRequest>;
  readonly reservationInstructions: Informer<ReservationInstruction>;
  readonly providerInstructions: Informer<ProviderInstruction>;
  readonly requestByUid: (uid: string) => ResourceRequest | undefined;
  readonly reservationInstruction: (reservationId: string) => ReservationInstruction | undefined;
  readonly providerInstruction: (reservationId: string) => ProviderInstruction | undefined;
  /** Resolves when all were listed once. */
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly synced: () => boolean;
}

export function agentObjects(instructionNamespace: string, deps: ReflectorDeps): AgentObjects {
  const namespace = instructionNamespace;
  const requests = informer(
    { resource: RESOURCE_REQUESTS, transform: withoutManagedFields<ResourceRequest>, isSame: isSameVersion },
    deps,
  );
  const reservationInstructions = informer(
    {
      resource: RESERVATION_INSTRUCTIONS,
      namespace,
      transform: withoutManagedFields<ReservationInstruction>,
      isSame: isSameVersion,
    },
    deps,
  );
  const providerInstructions = informer(
    {
      resource: PROVIDER_INSTRUCTIONS,
      namespace,
      transform: withoutManagedFields<ProviderInstruction>,
      isSame: isSameVersion,
    },
    deps,
  );
  const all = [requests, reservationInstructions, providerInstructions];
  const keyByUid = new Map<string, string>();
  requests.listen((key, now, before) => {
    if (before?.metadata.uid !== undefined) keyByUid.delete(before.metadata.uid);
    if (now?.metadata.uid !== undefined) keyByUid.set(now.metadata.uid, key);
  });

  return {
    requests,
    reservationInstructions,
    providerInstructions,
    requestByUid: (uid) => requests.get(keyByUid.get(uid) ?? ""),
    reservationInstruction: (id) => reservationInstructions.get(`${namespace}/${id}`),
    providerInstruction: (id) => providerInstructions.get(`${namespace}/${providerInstructionName(id)}`),
    start: async () => {
      await Promise.all(all.map((each) => each.start()));
    },
    stop: async () => {
      await Promise.all(all.map((each) => each.stop()));
    },
    synced: () => all.every((each) => each.synced()),
  };
}

interface Versioned {
  readonly metadata: { readonly uid?: string; readonly resourceVersion?: string };
}

/** managedFields is larger than the object, and the agent does not read it. */
function withoutManagedFields<T extends Versioned>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata as T["metadata"] & { managedFields?: unknown };
  return { ...object, metadata };
}

function isSameVersion(a: Versioned, b: Versioned): boolean {
  return a.metadata.uid === b.metadata.uid && a.metadata.resourceVersion === b.metadata.resourceVersion;
}
