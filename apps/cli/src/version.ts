import manifest from "../package.json" with { type: "json" };
import type { OUTPUT, Run } from "./cli/command.ts";
import { properties } from "./output/print.ts";

export const version: Run<{ readonly output: typeof OUTPUT }> = async () => {
  const data = { version: manifest.version, node: process.versions.node };
  return {
    data,
    table: () =>
      properties([
        ["brokerctl", data.version],
        ["Node", data.node],
      ]),
    names: [data.version],
  };
};
