import { delimiter, join } from "node:path";
import { Fault } from "@resource-broker/base";
import { wrong } from "./entry.ts";
import { type Environment, inClusterConfig, isInCluster } from "./in-cluster.ts";
import type { KubeConfig } from "./kube-config.ts";
import { type Kubeconfig, mergeKubeconfigs, parseKubeconfig } from "./kubeconfig.ts";
import { readIfThere, readTextFile } from "./read-file.ts";
import { resolveContext } from "./resolve-context.ts";

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
  const json = text.trimStart().startsWith("{") ? parseJson(text) : undefined;
  if (json !== undefined) return json;
  const { parse } = await import("yaml");
  try {
    const content: unknown = parse(text, { logLevel: "error" });
    return content;
  } catch (error) {
    const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    throw wrong(
      { place: file },
      `this is not YAML: ${line.replace(/:$/u, "")}; correct it, or name another file`,
    );
  }
}

/** Undefined for what only looks like JSON: YAML may begin with a brace, too. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
