import { Fault, type ObjectMeta } from "@resource-broker/base";
import type { KubeClient, ObjectName, Resource } from "@resource-broker/kube";
import type { WriteOptions } from "@resource-broker/kube/testing";

interface WithMetadata {
  readonly metadata: ObjectMeta;
}

/** Creates it where it is not; what is there stays as it is. */
export async function ensure<T extends WithMetadata>(
  client: KubeClient,
  resource: Resource<T>,
  object: T,
): Promise<T> {
  const found = await client.find(resource, object.metadata);
  if (found !== undefined) return found;
  try {
    return await client.create(resource, object);
  } catch (error) {
    // Somebody was faster: a liqoctl runs beside the controllers.
    const theirs = await client.find(resource, object.metadata);
    if (theirs === undefined) throw error;
    return theirs;
  }
}

/** Changes it where it is; no change to what is gone. */
export async function change(
  client: KubeClient,
  resource: Resource<unknown>,
  edit: { readonly name: ObjectName; readonly body: object; readonly options?: WriteOptions },
): Promise<void> {
  const { name, body, options } = edit;
  await unlessGone(client.patch(resource, { name, patch: { kind: "merge", body } }, options));
}

export async function remove(
  client: KubeClient,
  resource: Resource<unknown>,
  name: ObjectName,
): Promise<void> {
  await unlessGone(client.delete(resource, name));
}

export async function addFinalizer<T extends WithMetadata>(
  client: KubeClient,
  resource: Resource<T>,
  edit: { readonly object: T; readonly finalizer: string },
): Promise<void> {
  const { metadata } = edit.object;
  const finalizers = metadata.finalizers ?? [];
  if (finalizers.includes(edit.finalizer)) return;
  await setFinalizers(client, resource, { metadata, finalizers: [...finalizers, edit.finalizer] });
}

export async function dropFinalizer<T extends WithMetadata>(
  client: KubeClient,
  resource: Resource<T>,
  edit: { readonly object: T; readonly finalizer: string },
): Promise<void> {
  const { metadata } = edit.object;
  const finalizers = metadata.finalizers ?? [];
  if (!finalizers.includes(edit.finalizer)) return;
  const rest = finalizers.filter((each) => each !== edit.finalizer);
  await setFinalizers(client, resource, { metadata, finalizers: rest });
}

async function setFinalizers(
  client: KubeClient,
  resource: Resource<unknown>,
  { metadata, finalizers }: { readonly metadata: ObjectMeta; readonly finalizers: readonly string[] },
): Promise<void> {
  // The version guards the list: somebody else may add one at the same time.
  const { resourceVersion } = metadata;
  await change(client, resource, { name: metadata, body: { metadata: { resourceVersion, finalizers } } });
}

async function unlessGone(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "not-found") throw error;
  }
}

/** The first object that owns the other: deleted with it. */
export function ownedBy<T extends { readonly apiVersion?: string; readonly kind?: string } & WithMetadata>(
  owner: T,
  { group, version, kind }: Resource<T>,
): Pick<ObjectMeta, "ownerReferences"> {
  const { name, uid = "" } = owner.metadata;
  return {
    ownerReferences: [{ apiVersion: `${group}/${version}`, kind, name, uid, controller: true }],
  };
}
