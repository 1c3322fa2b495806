import { Fault } from "@resource-broker/base";
import { type KubeClient, type ObjectName, SECRETS } from "@resource-broker/kube";
import { isFault } from "../faults.ts";

const MAX_ATTEMPTS = 5;
/** Where `kubectl apply` keeps a copy of all that it applied. */
const APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** The values of a Secret, decoded. */
export type SecretValues = Readonly<Record<string, string>>;

/** One Secret, which is read and updated by its name and never created: the agent needs no other right. */
export interface NamedSecret {
  /** `namespace/name`, for messages. */
  readonly label: string;
  /** Undefined: there is no such Secret. */
  readonly find: () => Promise<SecretValues | undefined>;
  /**
   * Replaces the values with what `next` makes of the newest ones; again after a conflict with another writer.
   * `next` returns undefined: nothing is to be changed. Resolves with the values as they are then.
   */
  readonly change: (next: (values: SecretValues) => SecretValues | undefined) => Promise<SecretValues>;
}

export function namedSecret(
  name: ObjectName & { readonly namespace: string },
  client: Pick<KubeClient, "find" | "update">,
): NamedSecret {
  const label = `${name.namespace}/${name.name}`;

  const change: NamedSecret["change"] = async (next) => {
    for (let attempt = 1; ; attempt++) {
      const secret = await client.find(SECRETS, name);
      if (secret === undefined) throw missing(label, name);
      const before = decoded(secret.data);
      const after = next(before);
      if (after === undefined) return before;
      try {
        const metadata = withoutCopy(secret.metadata);
        await client.update(SECRETS, { ...secret, metadata, data: encoded(after, secret.data) });
        return after;
      } catch (error) {
        if (!isFault(error, "conflict") || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  };

  return {
    label,
    find: async () => {
      const secret = await client.find(SECRETS, name);
      return secret && decoded(secret.data);
    },
    change,
  };
}

function missing(label: string, { name, namespace }: ObjectName): Fault {
  const remedy = `kubectl -n ${namespace} create secret generic ${name}`;
  return new Fault("invalid", `there is no Secret ${label}, and the agent may not create one: ${remedy}`);
}

/** A value that is removed or replaced must not stay in kubectl's copy. */
function withoutCopy<T extends { readonly annotations?: Readonly<Record<string, string>> }>(metadata: T): T {
  const { [APPLIED]: copy, ...annotations } = metadata.annotations ?? {};
  return copy === undefined ? metadata : { ...metadata, annotations };
}

function decoded(data: Readonly<Record<string, string>> = {}): SecretValues {
  return Object.fromEntries(
    Object.entries(data).map(([key, text]) => [key, Buffer.from(text, "base64").toString("utf8")]),
  );
}

/** Values that did not change keep their bytes, which need not be text. */
function encoded(values: SecretValues, before: Readonly<Record<string, string>> = {}): SecretValues {
  const old = decoded(before);
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => {
      const bytes = old[key] === value ? before[key] : undefined;
      return [key, bytes ?? Buffer.from(value, "utf8").toString("base64")];
    }),
  );
}
