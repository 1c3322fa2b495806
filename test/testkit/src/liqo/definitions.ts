import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  FOREIGN_CLUSTERS,
  IDENTITIES,
  NAMESPACE_OFFLOADINGS,
  QUOTAS,
  RESOURCE_SLICES,
  SHADOW_PODS,
  TENANTS,
  VIRTUAL_NODES,
} from "@resource-broker/agent/liqo";
import type { Resource } from "@resource-broker/kube";
import type { JsonObject } from "@resource-broker/kube-sim";
import { parse } from "yaml";
import { findLiqoHere } from "../../../../tools/liqo-assets/assets.ts";
import { CHART, DEFINITIONS, KWOK_STAGES, type LiqoProgram } from "../../../../tools/liqo-assets/recipe.ts";

const KINDS: readonly Resource<unknown>[] = [
  FOREIGN_CLUSTERS,
  IDENTITIES,
  NAMESPACE_OFFLOADINGS,
  QUOTAS,
  RESOURCE_SLICES,
  SHADOW_PODS,
  TENANTS,
  VIRTUAL_NODES,
];

/** Definitions of Liqo's kinds that take anything: for tests that must run where Liqo is not. */
export function looseLiqoDefinitions(): JsonObject[] {
  return KINDS.map(looseDefinition);
}

function looseDefinition({ group, version, kind, plural, isNamespaced }: Resource<unknown>): JsonObject {
  const names = { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` };
  const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names,
      scope: isNamespaced ? "Namespaced" : "Cluster",
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          // A Quota has no status in Liqo either.
          ...(plural === "quotas" ? {} : { subresources: { status: {} } }),
          schema: {
            openAPIV3Schema: { type: "object", properties: { spec: anything, status: anything } },
          },
        },
      ],
    },
  };
}

/** Liqo itself on this machine, as its own release ships it, and what clusters need to run it. */
export interface LiqoAssets {
  readonly definitions: readonly JsonObject[];
  /** The path of a program: liqoctl, Liqo's controllers, kwok, kube-scheduler. */
  readonly pathOf: (program: LiqoProgram) => string;
  /** The folder that `liqoctl install --local-chart-path` takes. */
  readonly chart: string;
  /** The file that `kwok --config` takes: its nodes and pods are Ready at once. */
  readonly kwokStages: string;
}

/** Undefined where they are not, which is said; with `KUBE_REQUIRED=1` they must be there. */
export function liqoAssets(
  env: Readonly<Record<string, string | undefined>> = process.env,
  say: (line: string) => void = (line) => void process.stderr.write(`${line}\n`),
): LiqoAssets | undefined {
  const { isThere, folder } = findLiqoHere(env);
  if (isThere) {
    const crds = join(folder, DEFINITIONS);
    const read = (name: string): JsonObject => parse(readFileSync(join(crds, name), "utf8")) as JsonObject;
    return {
      definitions: readdirSync(crds).sort().map(read),
      pathOf: (program) => join(folder, program),
      chart: join(folder, CHART),
      kwokStages: join(folder, KWOK_STAGES),
    };
  }
  const why = `there is no Liqo in ${folder}. Run npm run liqo:assets.`;
  if (env["KUBE_REQUIRED"] === "1") throw new Error(`KUBE_REQUIRED is set, but ${why}`);
  say(`Tests with Liqo's own programs and definitions are SKIPPED: ${why}`);
  return undefined;
}
