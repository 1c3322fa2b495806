import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "@resource-broker/base";
import { makeFolder, type Program } from "@resource-broker/runtime";
import { parseAllDocuments } from "yaml";
import { createKubeSim } from "../create-kube-sim.ts";
import { isJsonObject, type JsonObject, objectsAt } from "../json.ts";
import type { KubeSimDeps } from "../kube-sim.ts";
import type { Flags } from "./flags.ts";

export interface RunClustersDeps extends KubeSimDeps {
  /** Tells people what there is. */
  readonly say: (line: string) => void;
}

/** Clusters with their kubeconfigs on disk, readable by their owner alone. */
export function runClusters(flags: Flags, deps: RunClustersDeps): Program {
  const sim = createKubeSim(deps);
  return {
    start: async () => {
      const objects = await loadObjects(flags.paths);
      makeFolder(flags.kubeconfigDir);
      for (const [index, name] of flags.clusters.entries()) {
        const port = flags.port === undefined ? {} : { port: flags.port + index };
        const cluster = await sim.addCluster({ name, behaves: flags.behaves, objects, ...port });
        const path = join(flags.kubeconfigDir, `${name}.yaml`);
        await writeFile(path, cluster.kubeconfig, { mode: 0o600 });
        deps.say(`${name}  ${cluster.url}  kubectl --kubeconfig ${path} get nodes`);
      }
    },
    stop: sim.stop,
  };
}

/** The objects of YAML and JSON files and of folders of them, in the order of their names; lists are opened. */
async function loadObjects(paths: readonly string[]): Promise<readonly JsonObject[]> {
  const files = (await Promise.all(paths.map(filesOf))).flat();
  const objects = await Promise.all(files.map(objectsOf));
  return objects.flat();
}

async function filesOf(path: string): Promise<readonly string[]> {
  const found = await stat(path).catch((cause: unknown) => {
    throw new Fault("invalid", `${path}: there is no such file or folder`, { cause });
  });
  if (!found.isDirectory()) return [path];
  const names = await readdir(path);
  return names
    .filter((name) => /\.(?:ya?ml|json)$/u.test(name))
    .sort()
    .map((name) => join(path, name));
}

async function objectsOf(file: string): Promise<readonly JsonObject[]> {
  const documents = parseAllDocuments(await readFile(file, "utf8"));
  if (!Array.isArray(documents)) return [];
  return documents.flatMap((document) => {
    const [problem] = document.errors;
    if (problem !== undefined) throw new Fault("invalid", `${file}: ${problem.message}`);
    const value: unknown = document.toJS();
    if (value === null) return [];
    if (!isJsonObject(value)) throw new Fault("invalid", `${file}: holds something that is no object`);
    return value["kind"] === "List" ? objectsAt(value, "items") : [value];
  });
}
