import type { ObjectMeta } from "@resource-broker/base";
import type {
  ProviderInstruction,
  ReservationInstruction,
  ResourceRequest,
} from "@resource-broker/contract/crd";
import { informer, type ReflectorDeps, type Resource } from "@resource-broker/kube";
import { providerInstructionName } from "../manifests/instructions.ts";
import { PROVIDER_INSTRUCTIONS, RESERVATION_INSTRUCTIONS, RESOURCE_REQUESTS } from "../manifests/labels.ts";

export type AgentObjects = ReturnType<typeof agentObjects>;

/** The agent's own kinds, watched in its cluster. */
export function agentObjects(instructionNamespace: string, deps: ReflectorDeps) {
  const namespace = instructionNamespace;
  const follow = <T extends Versioned>(resource: Resource<T>, where: { readonly namespace?: string }) =>
    informer({ resource, ...where, transform: withoutManagedFields<T>, isSame: isSameVersion }, deps);
  const requests = follow(RESOURCE_REQUESTS, {});
  const reservationInstructions = follow(RESERVATION_INSTRUCTIONS, { namespace });
  const providerInstructions = follow(PROVIDER_INSTRUCTIONS, { namespace });
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
    requestByUid: (uid: string): ResourceRequest | undefined => requests.get(keyByUid.get(uid) ?? ""),
    reservationInstruction: (id: string): ReservationInstruction | undefined =>
      reservationInstructions.get(`${namespace}/${id}`),
    providerInstruction: (id: string): ProviderInstruction | undefined =>
      providerInstructions.get(`${namespace}/${providerInstructionName(id)}`),
    /** Resolves when all were listed once. */
    start: async (): Promise<void> => {
      await Promise.all(all.map((each) => each.start()));
    },
    stop: async (): Promise<void> => {
      await Promise.all(all.map((each) => each.stop()));
    },
    synced: (): boolean => all.every((each) => each.synced()),
  };
}

interface Versioned {
  readonly metadata: ObjectMeta;
}

/** managedFields is larger than the object, and the agent does not read it. */
function withoutManagedFields<T extends Versioned>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata as T["metadata"] & { managedFields?: unknown };
  return { ...object, metadata };
}

function isSameVersion(a: Versioned, b: Versioned): boolean {
  return a.metadata.uid === b.metadata.uid && a.metadata.resourceVersion === b.metadata.resourceVersion;
}
