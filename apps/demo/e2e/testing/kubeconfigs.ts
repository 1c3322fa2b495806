import { parse } from "yaml";

interface Entries {
  readonly clusters: readonly { readonly cluster: object }[];
  readonly users: readonly { readonly user: object }[];
}

/** One kubeconfig with a context for each cluster, as people have it. */
export function joinedKubeconfig(texts: Readonly<Record<string, string>>): string {
  const entries = Object.entries(texts).map(([name, text]) => ({ name, ...(parse(text) as Entries) }));
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: entries.map(({ name, clusters }) => ({ name, cluster: clusters[0]?.cluster })),
    users: entries.map(({ name, users }) => ({ name, user: users[0]?.user })),
    contexts: entries.map(({ name }) => ({ name, context: { cluster: name, user: name } })),
  });
}
