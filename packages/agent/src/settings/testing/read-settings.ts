import type { AgentSettings } from "../agent-settings.ts";
import { readAgentSettings } from "../read-agent-settings.ts";

/** Enough to start with. */
export const RIGHT = ["--broker-url=https://broker.example:8443", "--broker-cert-path=/certs"];

/** There is no configuration file. */
export function read(argv: readonly string[], env: Record<string, string> = {}) {
  const readFile = () => Promise.reject(new Error("cannot read x: ENOENT"));
  return readAgentSettings({ argv, env, readFile });
}

/** What the right flags and these come to. */
export async function settingsOf(
  argv: readonly string[],
  env: Record<string, string> = {},
): Promise<AgentSettings> {
  const reading = await read([...RIGHT, ...argv], env);
  if (!reading.ok) throw new Error(reading.problems.join("\n"));
  return reading.settings;
}
