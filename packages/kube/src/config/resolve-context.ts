import { closest, Fault } from "@resource-broker/base";
import { type Entry, flagOf, isRecord, listOf, pemOf, requiredTextOf, textOf, wrong } from "./entry.ts";
import type { ExecCluster, KubeConfig, Trust } from "./kube-config.ts";
import type { Kubeconfig } from "./kubeconfig.ts";
import { needsTls, readUser } from "./user-entry.ts";

/** Under this name a cluster keeps what is meant for credential plugins. */
const PLUGIN_EXTENSION = "client.authentication.k8s.io/exec";

const MAX_NAMES = 5;

/** The cluster and the user of a context; without a name, the current one. */
export function resolveContext(kubeconfig: Kubeconfig, wanted?: string): KubeConfig {
  const name = wanted ?? kubeconfig.currentContext;
  if (name === undefined) throw noCurrentContext(kubeconfig);
  const context = kubeconfig.contexts.get(name);
  if (context === undefined) throw noSuchContext(kubeconfig, name, wanted !== undefined);
  const origin = `context ${JSON.stringify(name)} of ${context.file}`;
  try {
    return { origin, ...resolve(kubeconfig, context) };
  } catch (error) {
    // An entry of another file, or a cluster's: say which context leads there.
    if (!(error instanceof Fault) || error.message.startsWith(context.place)) throw error;
    throw new Fault(error.code, `${error.message} (${origin} uses it)`);
  }
}

function resolve(kubeconfig: Kubeconfig, context: Entry): Omit<KubeConfig, "origin"> {
  const clusterName = requiredTextOf(context, "cluster", "name a cluster of the file");
  const clusterEntry = entryOf(context, kubeconfig.clusters, { kind: "cluster", name: clusterName });
  const userName = textOf(context, "user");
  const userEntry =
    userName === undefined ? undefined : entryOf(context, kubeconfig.users, { kind: "user", name: userName });
  const cluster = readCluster(clusterEntry, userEntry !== undefined && needsTls(userEntry));
  return {
    server: cluster.server,
    trust: cluster.trust,
    namespace: textOf(context, "namespace") ?? "default",
    user: userEntry === undefined ? {} : readUser(userEntry, cluster),
  };
}

function entryOf(
  context: Entry,
  entries: ReadonlyMap<string, Entry>,
  { kind, name }: { readonly kind: string; readonly name: string },
): Entry {
  const entry = entries.get(name);
  if (entry !== undefined) return entry;
  throw wrong(
    context,
    `there is no ${kind} ${JSON.stringify(name)}: ${choiceOf(entries, `add it as a ${kind}`)}`,
  );
}

function noCurrentContext({ files, contexts }: Kubeconfig): Fault {
  const place = files.join(", ");
  if (contexts.size === 0) return wrong({ place }, "no context is in it: name a whole kubeconfig file");
  return wrong({ place }, `no current-context is set: choose one, ${choiceOf(contexts, "by its name")}`);
}

function noSuchContext({ files, contexts }: Kubeconfig, name: string, isAsked: boolean): Fault {
  const what = isAsked ? "there is no context" : "current-context names a context that is not there,";
  const near = closest(name, [...contexts.keys()]);
  const guess = near === undefined ? choiceOf(contexts, "add it") : `did you mean ${near}?`;
  return wrong({ place: files.join(", ") }, `${what} ${JSON.stringify(name)}: ${guess}`);
}

function choiceOf(entries: ReadonlyMap<string, Entry>, otherwise: string): string {
  const names = [...entries.keys()].slice(0, MAX_NAMES);
  if (names.length === 0) return otherwise;
  return `${otherwise}, or use one of ${names.join(", ")}${entries.size > MAX_NAMES ? ", …" : ""}`;
}

/** `needsTls`: what the user shows can be shown over TLS only. */
function readCluster(entry: Entry, needsTls: boolean): ExecCluster {
  if (textOf(entry, "proxy-url") !== undefined) {
    throw wrong(entry, "proxy-url is not supported: reach the API server directly, or through a tunnel");
  }
  const trust = readTrust(entry);
  const server = requiredTextOf(
    entry,
    "server",
    "give the API server's address, such as https://10.0.0.1:6443",
  );
  const config = pluginConfigOf(entry);
  return {
    server: readServer(entry, server, needsTls || trust.insecureSkipVerify || trust.ca !== undefined),
    trust,
    ...(config === undefined ? {} : { config }),
  };
}

function readTrust(entry: Entry): Trust {
  const insecureSkipVerify = flagOf(entry, "insecure-skip-tls-verify");
  const ca = pemOf(entry, "certificate-authority");
  const serverName = textOf(entry, "tls-server-name");
  if (insecureSkipVerify && ca !== undefined) {
    throw wrong(entry, "insecure-skip-tls-verify and a certificate authority exclude each other: remove one");
  }
  return {
    insecureSkipVerify,
    ...(ca === undefined ? {} : { ca }),
    ...(serverName === undefined ? {} : { serverName }),
  };
}

/** An address without a scheme is https where anything about TLS is stated, as in kubectl. */
function readServer(entry: Entry, server: string, isHttps: boolean): string {
  const whole = /^[a-z][a-z0-9+.-]*:\/\//iu.test(server)
    ? server
    : `${isHttps ? "https" : "http"}://${server}`;
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    throw wrong(
      entry,
      `server ${JSON.stringify(server)} is not an address: use one such as https://10.0.0.1:6443`,
    );
  }
  if (url.username !== "" || url.search !== "" || url.hash !== "") {
    throw wrong(entry, `server ${url.origin} must not carry a user, "?" or "#": leave them out`);
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/u, "");
}

function pluginConfigOf(entry: Entry): unknown {
  const extension = listOf(entry, "extensions").find(
    (candidate) => isRecord(candidate) && candidate["name"] === PLUGIN_EXTENSION,
  );
  return isRecord(extension) ? extension["extension"] : undefined;
}
