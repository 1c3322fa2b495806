import { dirname, join } from "node:path";
import type { CrlSummary } from "@resource-broker/runtime";
import type { Input } from "../cli/command.ts";
import { didYouMean } from "../cli/did-you-mean.ts";
import { CommandError } from "../cli/exit-code.ts";
import type { Host } from "../cli/host.ts";
import { dirFlag } from "./authority.ts";
import type { CertificateFacts } from "./certificate-facts.ts";
import { foldersIn, isDirectory, readText } from "./files.ts";
import { BROKER, type Layout, layoutOf } from "./layout.ts";
import type { SHOW_OPTIONS } from "./options.ts";
import { AUTHORITY, readAll, readAuthority, readNamed, readPath } from "./read-certificates.ts";
import { printCrl } from "./show-crl.ts";
import { readAuthorities, trustedCrl } from "./trust.ts";
import { printCertificate, printCertificates } from "./view.ts";

export async function show({ options, words }: Input<typeof SHOW_OPTIONS>, host: Host): Promise<void> {
  const layout = layoutOf(options.dir);
  const [target] = words;
  if (target === undefined) {
    return printCertificates(await findAll(layout, host.now()), options.output, host);
  }
  const crl = await findCrl(layout, target);
  if (crl !== undefined) return printCrl(target, crl, { format: options.output, host });
  printCertificate(await findOne(layout, target, host.now()), options.output, host);
}

/** A revocation list, when the target is the file of one. */
async function findCrl(layout: Layout, target: string): Promise<CrlSummary | undefined> {
  const text = (await isDirectory(target)) ? undefined : await readText(target);
  if (text?.includes("-----BEGIN X509 CRL-----") !== true) return undefined;
  const authorities = await readAuthorities([join(dirname(target), "ca.crt"), layout.caCert]);
  const crl = trustedCrl(text, target, authorities);
  if (crl !== undefined) return crl;
  throw new CommandError(
    "error",
    `${target} is signed neither by ${layout.caCert} nor by a ca.crt beside it`,
  );
}

async function findAll(layout: Layout, now: number): Promise<readonly CertificateFacts[]> {
  const all = await readAll(layout, now);
  if (all.length > 0) return all;
  throw new CommandError(
    "error",
    `there are no certificates in ${layout.dir}. Make some: brokerctl certs init${dirFlag(layout)}`,
  );
}

/** A name first, then a path: a folder here that happens to be called like a cluster is not what was meant. */
async function findOne(layout: Layout, target: string, now: number): Promise<CertificateFacts> {
  const names = [BROKER, ...(await foldersIn(layout.clusters))];
  const [found] = names.includes(target)
    ? await readNamed(layout, [target], now)
    : await gatherOther(layout, target, now);
  if (found !== undefined) return found;
  const hint = await didYouMean(target, [AUTHORITY, ...names]);
  throw new CommandError(
    "error",
    `no certificate is called "${target}" in ${layout.dir}, and no file or folder${hint}`,
  );
}

/** A cluster may be called "ca"; the authority is meant only when there is none. */
function gatherOther(layout: Layout, target: string, now: number): Promise<readonly CertificateFacts[]> {
  return target === AUTHORITY ? readAuthority(layout, now) : readPath(layout, target, now);
}
