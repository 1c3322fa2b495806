import type { KubeClient, ObjectName, Resource } from "@resource-broker/kube";
import { MANAGER } from "../manifests/labels.ts";

/** One write to this cluster, as data: plans stay pure, and one function performs them all. */
export type Write =
  | {
      readonly verb: "create" | "update";
      readonly resource: Resource<unknown>;
      readonly object: Named;
      readonly subresource?: "status";
    }
  | {
      readonly verb: "patch";
      readonly resource: Resource<unknown>;
      readonly name: ObjectName;
      readonly body: object;
    }
  | {
      readonly verb: "delete";
      readonly resource: Resource<unknown>;
      readonly name: ObjectName;
      readonly options?: DeleteOptions;
    };

type DeleteOptions = NonNullable<Parameters<KubeClient["delete"]>[2]>;

interface Named {
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

export function create<T extends Named>(resource: Resource<T>, object: T): Write {
  return { verb: "create", resource, object };
}

/** Replaces the version that the object carries; any other is a conflict. */
export function update<T extends Named>(resource: Resource<T>, object: T): Write {
  return { verb: "update", resource, object };
}

export function updateStatus<T extends Named>(resource: Resource<T>, object: T): Write {
  return { verb: "update", resource, object, subresource: "status" };
}

export function patch<T extends Named>(resource: Resource<T>, object: Named, body: object): Write {
  return { verb: "patch", resource, name: nameOf(object), body };
}

export function remove<T extends Named>(
  resource: Resource<T>,
  object: Named,
  options?: DeleteOptions,
): Write {
  return { verb: "delete", resource, name: nameOf(object), ...(options && { options }) };
}

function nameOf({ metadata: { name, namespace } }: Named): ObjectName {
  return { name, ...(namespace === undefined ? {} : { namespace }) };
}

export async function perform(client: Pick<KubeClient, Write["verb"]>, write: Write): Promise<void> {
  const { verb, resource } = write;
  const options = { fieldManager: MANAGER };
  if (verb === "delete") await client.delete(resource, write.name, write.options);
  else if (verb === "patch") {
    const change = { name: write.name, patch: { kind: "merge", body: write.body } } as const;
    await client.patch(resource, change, options);
  } else {
    const { object, subresource } = write;
    await client[verb](resource, object, { ...options, ...(subresource && { subresource }) });
  }
}
