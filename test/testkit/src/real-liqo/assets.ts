import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@resource-broker/kube-sim";
import { parse } from "yaml";
import { findAssets } from "../../../../tools/go-assets/assets-tool.ts";
import {
  CHART,
  DEFINITIONS,
  KWOK_STAGES,
  LIQO_ASSETS,
  type LiqoProgram,
} from "../../../../tools/liqo-assets/recipe.ts";

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
  const { isThere, folder } = findAssets(LIQO_ASSETS, env);
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
