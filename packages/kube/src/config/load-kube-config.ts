import { delimiter, join } from "node:path";
import { errorText, Fault, parseJson } from "@resource-broker/base";
import { readText } from "@resource-broker/runtime";
import type { KubeConfig } from "./kube-config.ts";
import { type Kubeconfig, mergeKubeconfigs, parseKubeconfig, wrong } from "./kubeconfig.ts";
import { resolveContext } from "./resolve-context.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where Kubernetes puts a pod's service account. */
const SERVICE_ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

function isInCluster(env: Environment): boolean {
  return (env["KUBERNETES_SERVICE_HOST"] ?? "") !== "" && (env["KUBERNETES_SERVICE_PORT"] ?? "") !== "";
}

/** The API server of the cluster this pod runs in, as the pod's service account. */
async function inClusterConfig(env: Environment, folder = SERVICE_ACCOUNT_FOLDER): Promise<KubeConfig> {
  const server = serverOf(env);
  const read = (name: string) => readIfThere(join(folder, name), "the service account of this pod");
  const [token, ca, namespace] = await Promise.all([read("token"), read("ca.crt"), read("namespace")]);
  if (token === undefined || token.trim() === "") throw notHere(`there is no token in ${folder}`);
  return {
    origin: "the service account of this pod",
    server,
    namespace: namespace?.trim() || "default",
    // Without the file the system's authorities must do, as for every other program in the pod.
    trust: {
      insecureSkipVerify: false,
      ...(ca === undefined ? {} : { ca: { kind: "file", path: join(folder, "ca.crt") } }),
    },
    user: { login: { kind: "token", token: { kind: "file", path: join(folder, "token") } } },
  };
}

function serverOf(env: Environment): string {
  if (!isInCluster(env)) throw notHere("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set");
  const { KUBERNETES_SERVICE_HOST: host = "", KUBERNETES_SERVICE_PORT: port = "" } = env;
  const server = `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
  if (URL.canParse(server)) return server;
  throw notHere(`KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT make no address (${server})`);
}

function notHere(problem: string): Fault {
  return new Fault(
    "invalid",
    `no service account to use: ${problem}; in a pod set automountServiceAccountToken: true, elsewhere name a kubeconfig file`,
  );
}

export interface ConfigSources {
  /** Files that somebody named: all must be there. */
  readonly files?: readonly string[];
  /** Absent: the current context. */
  readonly context?: string;
  /** KUBECONFIG, HOME, and the variables that Kubernetes sets in a pod. */
  readonly env: Environment;
  /** Where a pod's service account is; for tests. */
  readonly serviceAccountFolder?: string;
}

/**
 * Finds the cluster to talk to: files that were named, else KUBECONFIG, else the cluster this pod runs in, else
 * ~/.kube/config. A context that was asked for is looked up in files only.
 */
export async function loadKubeConfig(sources: ConfigSources): Promise<KubeConfig> {
  const { files = [], context, env, serviceAccountFolder } = sources;
  if (files.length > 0) return resolveContext(await namedFiles(files), context);
  const listed = listedFiles(env);
  if (listed.length > 0) return resolveContext(await existingFiles(listed, "KUBECONFIG"), context);
  if (context === undefined && isInCluster(env)) return inClusterConfig(env, serviceAccountFolder);
  return resolveContext(await existingFiles([homeFile(env)], "the default"), context);
}

function listedFiles({ KUBECONFIG = "" }: Environment): string[] {
  return [...new Set(KUBECONFIG.split(delimiter).filter((path) => path !== ""))];
}

function homeFile(env: Environment): string {
  const home = env["HOME"] ?? "";
  if (home !== "") return join(home, ".kube", "config");
  throw new Fault("invalid", "no kubeconfig: name a file, or set KUBECONFIG or HOME");
}

async function namedFiles(paths: readonly string[]): Promise<Kubeconfig> {
  const read = async (path: string) => readKubeconfig(await readTextFile(path, "named as kubeconfig"), path);
  return mergeKubeconfigs(await Promise.all(paths.map(read)));
}

/** A list may name files that are not there yet; one of them must be. */
async function existingFiles(paths: readonly string[], namedBy: string): Promise<Kubeconfig> {
  const parts: Kubeconfig[] = [];
  for (const path of paths) {
    const text = await readIfThere(path, namedBy);
    if (text !== undefined) parts.push(await readKubeconfig(text, path));
  }
  if (parts.length > 0) return mergeKubeconfigs(parts);
  const none = `no kubeconfig: ${paths.join(", ")} (${namedBy}) ${paths.length > 1 ? "are" : "is"} not there`;
  throw new Fault("invalid", `${none}; name a file, set KUBECONFIG, or run in a pod with a service account`);
}

/** What a kubeconfig file's text holds. JSON needs no YAML parser, which costs 7 MB to load. */
async function readKubeconfig(text: string, file: string): Promise<Kubeconfig> {
  return parseKubeconfig(await contentOf(text, file), file);
}

async function contentOf(text: string, file: string): Promise<unknown> {
  if (text.trim() === "") return {};
  // YAML may begin with a brace, too.
  const json = text.trimStart().startsWith("{") ? parseJson(text) : undefined;
  if (json !== undefined) return json;
  const { parse } = await import("yaml");
  try {
    const content: unknown = parse(text, { logLevel: "error" });
    return content;
  } catch (error) {
    const [line = ""] = errorText(error).split("\n");
    throw wrong(
      { place: file },
      `this is not YAML: ${line.replace(/:$/u, "")}; correct it, or name another file`,
    );
  }
}

/** The text of a file that somebody named; says who did when it cannot be read. */
export async function readTextFile(path: string, namedBy: string): Promise<string> {
  try {
    return await readText(path);
  } catch (error) {
    throw new Fault("invalid", `cannot read ${path} (${namedBy}): ${reasonOf(error)}`, { cause: error });
  }
}

/** Undefined where there is no such file. */
async function readIfThere(path: string, namedBy: string): Promise<string | undefined> {
  try {
    return await readTextFile(path, namedBy);
  } catch (error) {
    const { cause } = error instanceof Fault ? error : {};
    if (codeOf(cause) === "ENOENT" || codeOf(cause) === "ENOTDIR") return undefined;
    throw error;
  }
}

function reasonOf(error: unknown): string {
  switch (codeOf(error)) {
    case "ENOENT":
    case "ENOTDIR":
      return "there is no such file: correct the path";
    case "EACCES":
    case "EPERM":
      return "permission denied: change its owner or mode";
    case "EISDIR":
      return "it is a folder: name a file in it";
    default:
      return errorText(error);
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
