import { readFile } from "node:fs/promises";
import type { Run } from "./cli/command.ts";
import type { OUTPUT } from "./output/output-option.ts";
import { print } from "./output/print.ts";
import { properties } from "./output/table.ts";

export const version: Run<{ readonly output: typeof OUTPUT }> = async ({ options }, host) => {
  const text = await readFile(new URL("../package.json", import.meta.url), "utf8");
  const data = { version: readVersion(JSON.parse(text)), node: process.versions.node };
  const table = (): string =>
    properties([
      ["brokerctl", data.version],
      ["Node", data.node],
    ]);
  print({ data, table, names: () => [data.version] }, options.output, host);
};

function readVersion(content: unknown): string {
  const isPackage = typeof content === "object" && content !== null && "version" in content;
  return isPackage ? String(content.version) : "unknown";
}
