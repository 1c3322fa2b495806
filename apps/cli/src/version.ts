import manifest from "../package.json" with { type: "json" };
import type { Run } from "./cli/command.ts";
import type { OUTPUT } from "./output/output-option.ts";
import { print } from "./output/print.ts";
import { properties } from "./output/table.ts";

export const version: Run<{ readonly output: typeof OUTPUT }> = async ({ options }, host) => {
  const data = { version: manifest.version, node: process.versions.node };
  const table = (): string =>
    properties([
      ["brokerctl", data.version],
      ["Node", data.node],
    ]);
  print({ data, table, names: () => [data.version] }, options.output, host);
};
