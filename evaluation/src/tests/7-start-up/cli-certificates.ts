import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { PeerCertificates } from "@resource-broker/testkit";

const run = promisify(execFile);

/** Certificates as people without cert-manager make them: with brokerctl, into a folder. */
export interface CliCertificates extends PeerCertificates {
  /** Resolves with how long it took, the start of brokerctl included. */
  readonly issue: (id: string) => Promise<number>;
}

const ADMIN = "admin";

export async function cliCertificates(program: string, folder: string): Promise<CliCertificates> {
  const brokerctl = async (...args: readonly string[]): Promise<void> => {
    await run(process.execPath, [program, "certs", ...args, "--dir", folder]);
  };
  const read = (...path: readonly string[]) => {
    const file = (name: string): string => readFileSync(join(folder, ...path, name), "utf8");
    return { cert: file("tls.crt"), key: file("tls.key"), ca: file("ca.crt") };
  };
  await brokerctl("init");
  await brokerctl("issue", ADMIN, "--admin");
  return {
    broker: read("broker"),
    cluster: (id) => read("clusters", id),
    admin: () => read("clusters", ADMIN),
    issue: async (id) => {
      const beganAt = performance.now();
      await brokerctl("issue", id);
      return performance.now() - beganAt;
    },
  };
}
