import { join } from "node:path";
import { type Clock, errorText, type Log } from "@resource-broker/base";
import { readText } from "../files/read-text.ts";
import type { ReportReload } from "../probe/reloads.ts";
import {
  type CertificateFiles,
  type CertificateSet,
  type CertificateSource,
  FILE_NAMES,
  isSameSet,
  readCertificateSet,
  revokedCount,
} from "./certificate-set.ts";
import { watchFolder } from "./folder-watch.ts";
import { authorityOf, isOfSameKey, type RevocationList, withoutSuccessor } from "./revocation-list.ts";

const DEBOUNCE_MS = 200;
const POLL_MS = 30_000;
/** An inconsistent set is usually half-written: retry before the next poll. */
const RETRY_MS = 1000;
const SHOWN_SERIALS = 10;

/** Texts for messages about the owner of the certificates. */
export interface CertificateOwner {
  /** `the broker` */
  readonly name: string;
  /** Who verifies its certificate: `clients`. */
  readonly peers: string;
  /** The command that writes such a folder. */
  readonly remedy: string;
}

export interface CertificateFolderDeps {
  readonly owner: CertificateOwner;
  readonly clock: Pick<Clock, "after" | "wallMs">;
  readonly log: Log;
  /** Receives the result of each reload. */
  readonly report?: ReportReload;
  /** Authorities to trust beside those of ca.crt. */
  readonly more?: MoreAuthorities;
  /** The reason why a valid new set must not replace the current one; undefined: it may. */
  readonly rejectReason?: (next: CertificateSet, current: CertificateSet) => string | undefined;
}

export interface MoreAuthorities {
  /** A given ca.crt with them, in PEM. Rejects when they do not fit it. */
  readonly addTo: (ca: string) => Promise<string>;
  /** Called when they have changed; the returned function unsubscribes. */
  readonly onChange: (listener: () => void) => () => void;
}

/** A folder with `tls.crt`, `tls.key`, `ca.crt` and perhaps `crl.pem`, as cert-manager writes it; read again on change. */
export function certificateFolder(folder: string, deps: CertificateFolderDeps): CertificateSource {
  const { owner, clock, log, report = () => undefined } = deps;
  const listeners = new Set<(set: CertificateSet) => void>();
  let current: CertificateSet | undefined;
  /** The latest list of each authority, including authorities that are not trusted now: they may come back without a list. */
  let known: readonly RevocationList[] = [];
  /** Lists that still apply but are no longer in the file. */
  let kept: readonly RevocationList[] = [];
  let isStopped = false;
  let lastProblem: string | undefined;
  let unwatch = (): void => undefined;
  let cancelRetry = (): unknown => undefined;

  const load = async (): Promise<CertificateSet> => {
    try {
      const set = readCertificateSet(await readFiles(folder, deps.more));
      warnAbout(set, deps);
      return set;
    } catch (cause) {
      const needs = `it needs tls.crt, tls.key and ca.crt that belong together; ${owner.remedy} writes them`;
      throw new Error(`certificate folder ${folder}: ${errorText(cause)} (${needs})`, { cause });
    }
  };

  const reportProblem = (problem: string | undefined, message: string): void => {
    report(problem);
    if (problem !== undefined && problem !== lastProblem) log.warn({ folder, problem }, message);
    lastProblem = problem;
  };

  const use = (found: CertificateSet, before: CertificateSet): void => {
    const rejectReason = deps.rejectReason?.(found, before);
    if (rejectReason !== undefined) throw new Error(rejectReason);
    // A missing list must not re-admit revoked certificates: the previous list of that authority still applies.
    const older = withoutSuccessor(known, found.revocations);
    kept = older.filter((list) => list.serials.size > 0 && isTrusted(list, found));
    known = [...found.revocations, ...older];
    const next = { ...found, revocations: [...found.revocations, ...kept] };
    current = next;
    warnAbout(next, deps);
    warnOfTrustedAgain(before, next, log);
    log.info({ folder, expires: next.own.validTo, revoked: revokedCount(next) }, "certificates reloaded");
    for (const listener of listeners) listener(next);
  };

  const reload = async (): Promise<void> => {
    cancelRetry();
    try {
      const found = await readFiles(folder, deps.more);
      if (isStopped || current === undefined) return;
      if (!isSameSet(found, current.files)) use(readCertificateSet(found), current);
      reportProblem(missingLists(kept, found), "the last revocation lists still apply");
    } catch (error) {
      reportProblem(errorText(error), "certificates not reloaded; the old ones stay in use");
      if (!isStopped) cancelRetry = clock.after(RETRY_MS, () => void reload());
    }
  };

  return {
    start: async () => {
      current = await load();
      known = current.revocations;
      const watching = {
        folder,
        clock,
        debounceMs: DEBOUNCE_MS,
        pollMs: POLL_MS,
        onChange: () => void reload(),
      };
      const unwatchFolder = watchFolder(watching);
      const unwatchMore = deps.more?.onChange(watching.onChange);
      unwatch = () => {
        unwatchFolder();
        unwatchMore?.();
      };
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

async function readFiles(folder: string, more: MoreAuthorities | undefined): Promise<CertificateFiles> {
  const read = (name: string): Promise<string> => readText(join(folder, name));
  const [cert, key, ca, crl] = await Promise.all([
    read(FILE_NAMES.cert),
    read(FILE_NAMES.key),
    read(FILE_NAMES.ca),
    read(FILE_NAMES.crl).catch(absent),
  ]);
  return { cert, key, ca: more === undefined ? ca : await more.addTo(ca), crl };
}

function absent(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
  throw error;
}

function isTrusted(list: RevocationList, { authorities }: CertificateSet): boolean {
  return authorities.some((authority) => isOfSameKey(list, authority));
}

function missingLists(kept: readonly RevocationList[], { crl }: CertificateFiles): string | undefined {
  if (kept.length === 0) return undefined;
  const authorities = [...new Set(kept.map(authorityOf))].join("; ");
  const problem = crl === undefined ? "is gone" : "lacks a list";
  return `crl.pem ${problem}: the last list of ${authorities} applies until the process ends and is lost after that; restore it, or add an empty list of that authority`;
}

/** Warns about certificates that a shorter list no longer revokes: it may be intended or a mistake. */
function warnOfTrustedAgain(before: CertificateSet, next: CertificateSet, log: Log): void {
  const again = before.revocations.flatMap((old) => {
    if (!isTrusted(old, next)) return [];
    const lists = next.revocations.filter((list) => isOfSameKey(list, old.issuer));
    return [...old.serials].filter((serial) => !lists.some((list) => list.serials.has(serial)));
  });
  if (again.length === 0) return;
  log.warn(
    { count: again.length, serials: again.slice(0, SHOWN_SERIALS) },
    "crl.pem no longer names these certificates: they are trusted again",
  );
}

/** Warns about expired certificates, outdated lists and lists of unknown authorities. They are not errors. */
function warnAbout({ own, revocations, skippedLists }: CertificateSet, deps: CertificateFolderDeps): void {
  const { owner, clock, log } = deps;
  const now = clock.wallMs();
  if (own.validToDate.getTime() <= now) {
    log.warn(
      { expired: own.validTo },
      `${owner.name}'s own certificate has expired; ${owner.peers} will refuse it`,
    );
  }
  if (skippedLists > 0) {
    log.warn(
      { skipped: skippedLists },
      "crl.pem has lists of authorities that are not in ca.crt: they are skipped and have no effect; remove them, or write them again if they are damaged lists of an authority in ca.crt",
    );
  }
  for (const { issuer, nextUpdateMs } of revocations) {
    if (nextUpdateMs === undefined || nextUpdateMs > now) continue;
    log.warn({ issuer: issuer.subject }, "crl.pem is out of date; what it revokes stays revoked, renew it");
  }
}
