import { delimiter, join } from "node:path";
import { Fault } from "@resource-broker/contract";
import { type Environment, inClusterConfig, isInCluster } from "./in-cluster.ts";
import type { KubeConfig } from "./kube-config.ts";
import { type Kubeconfig, mergeKubeconfigs } from "./kubeconfig.ts";
import { readIfThere, readTextFile } from "./read-file.ts";
import { readKubeconfig } from "./read-kubeconfig.ts";
import { resolveContext } from "./resolve-context.ts";

export interface ConfigSources {
  /** Files that somebody named: all must be there. */
  readonly files?: readonly string[];
  /** Absent: the current context. */
  readonly context?: string;
  /** KUBECONFIG, HOME, and what Kubernetes tells a pod. */
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
