import { closest, Fault, isRecord } from "@resource-broker/base";
import type { ExecCluster, ExecPlugin, KubeConfig, Login, Trust, User } from "./kube-config.ts";
import {
  besideFile,
  type Entry,
  flagOf,
  type Kubeconfig,
  listOf,
  nameOf,
  pathOf,
  pemOf,
  recordOf,
  requiredTextOf,
  textOf,
  wrong,
} from "./kubeconfig.ts";

const GROUP = "client.authentication.k8s.io";
const MODES = ["Never", "IfAvailable", "Always"] as const;

/** Unsupported fields that change the identity: ignoring them would authenticate as another user. */
const REFUSED: Readonly<Record<string, string>> = {
  "auth-provider": "Kubernetes has replaced it: use an exec plugin, for example kubelogin",
  as: "impersonation is not supported: give the user itself the rights",
  "as-uid": "impersonation is not supported: give the user itself the rights",
  "as-groups": "impersonation is not supported: give the user itself the rights",
  "as-user-extra": "impersonation is not supported: give the user itself the rights",
};

/** Credentials as kubectl understands them; a plugin counts only where the file holds no token. */
function readUser(entry: Entry, cluster: ExecCluster): User {
  for (const [name, remedy] of Object.entries(REFUSED)) {
    if ((entry.fields[name] ?? undefined) !== undefined)
      throw wrong(entry, `${name} is not supported: ${remedy}`);
  }
  const certificate = certificateOf(entry);
  const login = loginOf(entry, cluster);
  return {
    ...(certificate === undefined ? {} : { certificate }),
    ...(login === undefined ? {} : { login }),
  };
}

/** A certificate can be shown over TLS only. */
function needsTls({ fields }: Entry): boolean {
  return ["client-certificate", "client-certificate-data"].some((name) => (fields[name] ?? "") !== "");
}

function certificateOf(entry: Entry): User["certificate"] {
  const cert = pemOf(entry, "client-certificate");
  const key = pemOf(entry, "client-key");
  if (cert !== undefined && key !== undefined) return { cert, key };
  if (cert !== undefined)
    throw wrong(entry, "client-certificate has no client-key: add client-key or client-key-data");
  if (key !== undefined) throw wrong(entry, "client-key has no client-certificate: add it, or its -data");
  return undefined;
}

function loginOf(entry: Entry, cluster: ExecCluster): Login | undefined {
  const token = tokenOf(entry);
  const password = passwordOf(entry);
  if (token !== undefined && password !== undefined) {
    throw wrong(entry, "a token and a username exclude each other: remove one");
  }
  return token ?? readPlugin(entry, cluster) ?? password;
}

/** The file wins over the text: it is the one that is kept fresh. */
function tokenOf(entry: Entry): Login | undefined {
  const path = pathOf(entry, "tokenFile");
  if (path !== undefined) return { kind: "token", token: { kind: "file", path } };
  const text = textOf(entry, "token");
  return text === undefined ? undefined : { kind: "token", token: { kind: "text", text } };
}

function passwordOf(entry: Entry): Login | undefined {
  const username = textOf(entry, "username");
  const password = textOf(entry, "password");
  if (username === undefined && password === undefined) return undefined;
  if (username === undefined) throw wrong(entry, "password has no username: add it");
  return { kind: "password", username, password: password ?? "" };
}

/** A plugin as the file describes it. On request, it receives the cluster that its credentials are for. */
function readPlugin(user: Entry, cluster: ExecCluster): Login | undefined {
  const entry = recordOf(user, "exec");
  if (entry === undefined) return undefined;
  const apiVersion = versionOf(entry);
  const installHint = textOf(entry, "installHint");
  const plugin: ExecPlugin = {
    apiVersion,
    command: commandOf(entry),
    args: listOf(entry, "args").map((value) => argumentOf(entry, value)),
    env: Object.fromEntries(listOf(entry, "env").map((value) => variableOf(entry, value))),
    interactiveMode: modeOf(entry, apiVersion),
    ...(installHint === undefined ? {} : { installHint }),
    ...(flagOf(entry, "provideClusterInfo") ? { cluster } : {}),
  };
  return { kind: "plugin", plugin };
}

function versionOf(entry: Entry): ExecPlugin["apiVersion"] {
  const version = requiredTextOf(entry, "apiVersion", `write ${GROUP}/v1`);
  if (version === `${GROUP}/v1` || version === `${GROUP}/v1beta1`) return version;
  throw wrong(entry, `apiVersion ${version} is not supported: use ${GROUP}/v1, and a plugin that speaks it`);
}

/** A command with a slash in it is a path, seen from the file; one without is looked up in PATH. */
function commandOf(entry: Entry): string {
  const command = requiredTextOf(entry, "command", "name the program that prints the credentials");
  return command.includes("/") ? besideFile(entry, command) : command;
}

function argumentOf(entry: Entry, value: unknown): string {
  if (typeof value === "string") return value;
  throw wrong(entry, `args must be text, not ${nameOf(value)}: put it in quotes`);
}

function variableOf(entry: Entry, value: unknown): [string, string] {
  const [name, content] = isRecord(value) ? [value["name"], value["value"]] : [];
  if (typeof name === "string" && typeof content === "string") return [name, content];
  throw wrong(entry, "env must list a name and a value each, both text: put them in quotes");
}

function modeOf(entry: Entry, apiVersion: ExecPlugin["apiVersion"]): ExecPlugin["interactiveMode"] {
  const stated = textOf(entry, "interactiveMode");
  if (stated === undefined && apiVersion.endsWith("/v1beta1")) return "IfAvailable";
  const mode = MODES.find((candidate) => candidate === stated);
  if (mode !== undefined) return mode;
  throw wrong(
    entry,
    `interactiveMode is ${stated ?? "missing"}: write ${MODES.join(", ")}; a service needs Never or IfAvailable`,
  );
}

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
