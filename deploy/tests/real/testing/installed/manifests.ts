import { parseAllDocuments } from "yaml";
import type { Certificate, ConfigMap, KubeObject, Service, Workload } from "./manifest-types.ts";

/** Kinds that others define; nobody of theirs runs here. */
const FOREIGN = ["cert-manager.io/", "monitoring.coreos.com/"];
const WORKLOADS = ["Deployment", "StatefulSet"];

/** What is installed for one program. */
export interface Manifests {
  /** What goes into the cluster, without the kinds of others. */
  readonly objects: readonly KubeObject[];
  readonly workload: Workload;
  readonly services: readonly Service[];
  readonly certificates: readonly Certificate[];
  readonly configMaps: readonly ConfigMap[];
}

export function readManifests(text: string): Manifests {
  // As Kubernetes reads it: 0440 is octal.
  const all = parseAllDocuments(text, { version: "1.1" })
    .map((document) => document.toJS() as KubeObject | null)
    .filter((object) => object !== null);
  const ofKind = <T extends KubeObject>(...kinds: string[]): T[] =>
    all.filter(({ kind }) => kinds.includes(kind)) as T[];
  const [workload, ...others] = ofKind<Workload>(...WORKLOADS);
  if (workload === undefined || others.length > 0) throw new Error("the manifests run not one program");
  return {
    objects: all.filter(({ apiVersion }) => !FOREIGN.some((group) => apiVersion.startsWith(group))),
    workload,
    services: ofKind("Service"),
    certificates: ofKind("Certificate"),
    configMaps: ofKind("ConfigMap"),
  };
}
