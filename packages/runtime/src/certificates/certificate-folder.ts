import { join } from "node:path";
import { readText } from "../files/read-text.ts";
import type { MachineTime } from "../time/machine-time.ts";
import type { Log } from "../log/log.ts";
import {
  type CertificateFiles,
  type CertificateSet,
  FILE_NAMES,
  isSameSet,
  readCertificateSet,
} from "./certificate-set.ts";
import type { CertificateSource } from "./certificate-source.ts";
import { watchFolder } from "./folder-watch.ts";

const SETTLE_MS = 200;
const POLL_MS = 30_000;
/** A set that does not fit together is mostly half-written: look again before the next poll. */
const RETRY_MS = 1000;

/** Whose certificates they are, in the words of messages. */
export interface CertificateOwner {
  /** `the broker` */
  readonly name: string;
  /** Who looks at its certificate: `clients`. */
  readonly peers: string;
  /** The command that writes such a folder. */
  readonly remedy: string;
}

export interface CertificateFolderDeps {
  readonly owner: CertificateOwner;
  readonly machine: Pick<MachineTime, "after" | "wallMs">;
  readonly log: Log;
}

/** A folder with `tls.crt`, `tls.key`, `ca.crt` and perhaps `crl.pem`, as cert-manager writes it; read again on change. */
export function certificateFolder(folder: string, deps: CertificateFolderDeps): CertificateSource {
  const { owner, machine, log } = deps;
  const listeners = new Set<(set: CertificateSet) => void>();
  let current: CertificateSet | undefined;
  let isStopped = false;
  let complaint: string | undefined;
  let unwatch = (): void => undefined;
  let cancelRetry = (): unknown => undefined;

  const load = async (): Promise<CertificateSet> => {
    try {
      const set = readCertificateSet(await readFiles(folder));
      warnOfAge(set, deps);
      return set;
    } catch (cause) {
      const needs = `it needs tls.crt, tls.key and ca.crt that belong together; ${owner.remedy} writes them`;
      throw new Error(`certificate folder ${folder}: ${messageOf(cause)} (${needs})`, { cause });
    }
  };

  const look = async (): Promise<void> => {
    cancelRetry();
    try {
      const files = await readFiles(folder);
      if (isStopped || (current !== undefined && isSameSet(files, current.files))) return;
      warnOfLostList(current?.files, files, log);
      current = readCertificateSet(files);
      complaint = undefined;
      warnOfAge(current, deps);
      const revoked = current.revocations.reduce((count, { serials }) => count + serials.size, 0);
      log.info({ folder, expires: current.own.validTo, revoked }, "certificates reloaded");
      for (const listener of listeners) listener(current);
    } catch (error) {
      const problem = messageOf(error);
      if (problem !== complaint)
        log.warn({ folder, problem }, "certificates not reloaded; the old ones stay");
      complaint = problem;
      if (!isStopped) cancelRetry = machine.after(RETRY_MS, () => void look());
    }
  };

  return {
    start: async () => {
      current = await load();
      const watching = { folder, machine, settleMs: SETTLE_MS, pollMs: POLL_MS, look: () => void look() };
      unwatch = watchFolder(watching);
      return current;
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop: () => {
      isStopped = true;
      cancelRetry();
      unwatch();
    },
  };
}

async function readFiles(folder: string): Promise<CertificateFiles> {
  const read = (name: string): Promise<string> => readText(join(folder, name));
  const [cert, key, ca, crl] = await Promise.all([
    read(FILE_NAMES.cert),
    read(FILE_NAMES.key),
    read(FILE_NAMES.ca),
    read(FILE_NAMES.crl).catch(absent),
  ]);
  return { cert, key, ca, crl };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function absent(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
  throw error;
}

function warnOfLostList(before: CertificateFiles | undefined, now: CertificateFiles, log: Log): void {
  if (before?.crl !== undefined && now.crl === undefined) {
    log.warn({}, "crl.pem is gone: what it revoked is trusted again");
  }
}

/** Old revocation lists and certificates still work here; somebody should know. */
function warnOfAge({ own, revocations }: CertificateSet, deps: CertificateFolderDeps): void {
  const { owner, machine, log } = deps;
  const now = machine.wallMs();
  if (own.validToDate.getTime() <= now) {
    log.warn(
      { expired: own.validTo },
      `${owner.name}'s own certificate has expired; ${owner.peers} will refuse it`,
    );
  }
  for (const { issuer, nextUpdateMs } of revocations) {
    if (nextUpdateMs === undefined || nextUpdateMs > now) continue;
    log.warn({ issuer: issuer.subject }, "crl.pem is out of date; what it revokes stays revoked, renew it");
  }
}
