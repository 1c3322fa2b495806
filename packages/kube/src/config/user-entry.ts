import {
  besideFile,
  type Entry,
  flagOf,
  isRecord,
  listOf,
  nameOf,
  pathOf,
  pemOf,
  recordOf,
  requiredTextOf,
  textOf,
  wrong,
} from "./entry.ts";
import type { ExecCluster, ExecPlugin, Login, User } from "./kube-config.ts";

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
export function readUser(entry: Entry, cluster: ExecCluster): User {
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
export function needsTls({ fields }: Entry): boolean {
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
