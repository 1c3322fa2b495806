import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";

const DEBIAN = "/usr/bin/promtool";
const REQUIRED = "PROMTOOL_REQUIRED";

/**
 * Prometheus's own tool; undefined where it is missing, which is said on the standard error. With `PROMTOOL_REQUIRED=1` it
 * must be there. `PROMTOOL` names it where it is in an unusual place.
 */
export function promtool(
  env: Readonly<Record<string, string | undefined>> = process.env,
): ((...words: readonly string[]) => Promise<string>) | undefined {
  const program = env["PROMTOOL"] ?? DEBIAN;
  if (existsSync(program)) return async (...words) => (await promisify(execFile)(program, [...words])).stdout;
  const why = `there is no ${program}; apt-get install -y --no-install-recommends prometheus, or name it in PROMTOOL`;
  if (env[REQUIRED] === "1") throw new Error(`${REQUIRED} is set, but ${why}`);
  process.stderr.write(`Alert rules are not tried with promtool: ${why}\n`);
  return undefined;
}
