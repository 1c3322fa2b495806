import type { KubeClient, ObjectName, Resource } from "@resource-broker/kube";
import { MANAGER } from "./labels.ts";

/** How the agent writes its own objects: as one field manager, whoever wrote them before. */
export function applyOwn<T extends object>(
  client: Pick<KubeClient, "apply">,
  resource: Resource<T>,
  object: T,
): Promise<T> {
  return client.apply(resource, object, { fieldManager: MANAGER, force: true });
}

export function patchStatus<T>(
  client: Pick<KubeClient, "patch">,
  resource: Resource<T>,
  { name, status }: { readonly name: ObjectName; readonly status: object },
): Promise<T> {
  const patch = { kind: "merge", body: { status } } as const;
  return client.patch(resource, { name, patch }, { subresource: "status", fieldManager: MANAGER });
}
