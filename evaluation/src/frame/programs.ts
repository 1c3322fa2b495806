import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Programs } from "../evaluation-test.ts";

/** Bundles broker and agent as they are shipped: what is measured is what people run. */
export function bundlePrograms(root: string, into: string): Programs {
  const bundler = join(root, "scripts/bundle/main.ts");
  execFileSync(process.execPath, [bundler, "--into", into], { stdio: ["ignore", "ignore", "inherit"] });
  return {
    broker: join(into, "broker.mjs"),
    agent: join(into, "agent.mjs"),
    cli: join(into, "brokerctl.mjs"),
    agentNodeFlags: flagsOfLauncher(readFileSync(join(into, "agent"), "utf8")),
  };
}

/** From the script that starts the bundle: `exec node --a --b "…/agent.mjs" "$@"`. */
export function flagsOfLauncher(script: string): string[] {
  const command = /^exec node (.*?)"/m.exec(script)?.[1];
  if (command === undefined) throw new Error("the agent's launcher does not say how Node is called");
  return command.split(" ").filter((word) => word.startsWith("--"));
}
