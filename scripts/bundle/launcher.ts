import { readFile } from "node:fs/promises";

/** The flags of V8 that a program is measured with; a container can name them in its command just as well. */
export async function readNodeFlags(file: string): Promise<readonly string[]> {
  const flags: unknown = JSON.parse(await readFile(file, "utf8"));
  if (isFlags(flags)) return flags;
  throw new Error(`${file} must be a list of flags for Node`);
}

function isFlags(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((flag) => typeof flag === "string" && SAFE.test(flag));
}

/** They are written into a shell script as they are. */
const SAFE = /^--[\w=-]+$/;

interface Launch {
  readonly flags?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** A script beside the bundle that starts it as it is measured, from wherever it is linked to. */
export function launcherText(bundle: string, { flags = [], environment = {} }: Launch = {}): string {
  const exports = Object.entries(environment).map(
    ([name, value]) => `export ${name}="\${${name}:-${value}}"`,
  );
  const node = ["node", ...flags].join(" ");
  const start = `exec ${node} "$(dirname "$(readlink -f "$0")")/${bundle}" "$@"`;
  return ["#!/bin/sh", ...exports, start, ""].join("\n");
}
