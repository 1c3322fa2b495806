import { existsSync } from "node:fs";
import { join } from "node:path";
import { cruise } from "dependency-cruiser";
import config from "../../.dependency-cruiser.mjs";

interface LayerViolation {
  readonly rule: string;
  readonly from: string;
  readonly to: string;
}

export interface LayerReport {
  /** How many of our own modules were read. Zero means that nothing was checked, not that all is well. */
  readonly modules: number;
  readonly violations: readonly LayerViolation[];
}

const OUR_FOLDERS = ["packages", "apps", "test", "evaluation", "tools", "scripts", "deploy", "test-setup"];

export async function cruiseLayers(root: string): Promise<LayerReport> {
  const folders = OUR_FOLDERS.filter((folder) => existsSync(join(root, folder)));
  const { enhancedResolveOptions, ...options } = config.options ?? {};
  const result = await cruise(
    folders,
    { ...options, baseDir: root, validate: true, ruleSet: { forbidden: config.forbidden ?? [] } },
    enhancedResolveOptions,
  );
  if (typeof result.output === "string")
    throw new TypeError("dependency-cruiser answered with text, not with data");
  const { modules, summary } = result.output;
  return {
    modules: modules.filter((module) => isOurs(module.source)).length,
    violations: summary.violations.map(({ rule, from, to }) => ({ rule: rule.name, from, to })),
  };
}

/** One line for each problem; none when the layers hold. */
export function problemsOf(report: LayerReport): readonly string[] {
  if (report.modules === 0) {
    return ["No module was read, so nothing was checked. Is @swc/core installed? (npm ci)"];
  }
  return report.violations.map(({ rule, from, to }) => `${rule}: ${from} → ${to}\n    ${reasonFor(rule)}`);
}

function isOurs(source: string): boolean {
  return OUR_FOLDERS.some((folder) => source.startsWith(`${folder}/`));
}

function reasonFor(name: string): string {
  return config.forbidden?.find((rule) => rule.name === name)?.comment ?? "";
}
