import { isIP } from "node:net";
import { CommandError } from "../cli/exit-code.ts";

export const DEFAULT_HOSTS = ["localhost", "127.0.0.1", "::1"] as const;

const LABEL = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?";
const DNS_NAME = new RegExp(`^(\\*\\.)?${LABEL}(\\.${LABEL})*$`, "u");

/** The names under which agents will reach the broker, each once, as certificates want them. */
export function readHosts(given: readonly string[]): readonly string[] {
  return [...new Set(given.map(readHost))];
}

function readHost(text: string): string {
  if (isIP(text) !== 0 && !text.includes("%")) return text;
  const name = text.toLowerCase();
  if (name.length <= 253 && DNS_NAME.test(name)) return name;
  const hint = /\/|:\d+$/u.test(text) ? " without scheme, port and path" : "";
  throw new CommandError(
    "usage",
    `--host ${JSON.stringify(text)}: write a DNS name or an IP address${hint}, for example broker.example.org or 10.0.0.7`,
  );
}
