import type { ObjectMeta } from "@resource-broker/base";
import type { KubeClient, Resource } from "@resource-broker/kube";

/** One write, and what of it the API server did not keep: fields that the kind's schema does not know. */
export interface Write {
  /** `create ResourceSlice rsv-a`. */
  readonly what: string;
  readonly lost: readonly string[];
}

/** What the server writes itself, whatever it is sent. */
const SERVERS_OWN = new Set([
  "metadata.resourceVersion",
  "metadata.generation",
  "metadata.uid",
  "metadata.creationTimestamp",
  "metadata.managedFields",
]);

/** Notes every write of Liqo's kinds, and compares what was sent with what was stored: API servers drop unknown fields without a word. */
export function strictClient(client: KubeClient): { readonly client: KubeClient; readonly writes: Write[] } {
  const writes: Write[] = [];
  const note = (verb: string, resource: Resource<unknown>, { sent, stored }: Compared): void => {
    // Built-in kinds have schemas of their own, and write amounts in their own way.
    if (!resource.group.endsWith("liqo.io")) return;
    const { name = "" } = (stored as { readonly metadata?: Partial<ObjectMeta> }).metadata ?? {};
    writes.push({ what: `${verb} ${resource.kind} ${name}`, lost: lostOf(sent, stored, "") });
  };
  return {
    writes,
    client: {
      ...client,
      create: async (resource, object, options) => {
        const stored = await client.create(resource, object, options);
        note("create", resource, { sent: object, stored });
        return stored;
      },
      update: async (resource, object, options) => {
        const stored = await client.update(resource, object, options);
        // A write of the status writes nothing else, and one of the object no status.
        const { status, ...rest } = object as { readonly status?: unknown };
        note("update", resource, { sent: options?.subresource === "status" ? { status } : rest, stored });
        return stored;
      },
      patch: async (resource, change, options) => {
        const stored = await client.patch(resource, change, options);
        if (change.patch.kind === "merge") note("patch", resource, { sent: change.patch.body, stored });
        return stored;
      },
    },
  };
}

interface Compared {
  readonly sent: unknown;
  readonly stored: unknown;
}

function lostOf(sent: unknown, stored: unknown, path: string): string[] {
  if (SERVERS_OWN.has(path) || sent === undefined) return [];
  if (sent === null) return stored === undefined ? [] : [`${path} stays`];
  if (typeof sent !== "object") return sent === stored ? [] : [`${path} is another`];
  if (typeof stored !== "object" || stored === null) return Object.keys(sent).length === 0 ? [] : [path];
  const kept = new Map(Object.entries(stored));
  return Object.entries(sent).flatMap(([key, value]) =>
    lostOf(value, kept.get(key), path === "" ? key : `${path}.${key}`),
  );
}
