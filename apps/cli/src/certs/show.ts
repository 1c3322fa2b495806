import { dirname, join } from "node:path";
import type { CrlSummary } from "@resource-broker/runtime";
import type { Run, View } from "../cli/command.ts";
import { CommandError, didYouMean } from "../cli/exit-code.ts";
import { type Column, properties, table, wide } from "../output/print.ts";
import { when } from "../output/text.ts";
import { dirFlag } from "./authority.ts";
import type { CertificateFacts } from "./certificate-facts.ts";
import type { CERTS_SHOW_OPTIONS } from "../commands/local-options.ts";
import { isDirectory, type Layout, layoutOf, namesIn, readText } from "./files.ts";
import {
  AUTHORITY,
  readAuthorities,
  readNamed,
  readPath,
  readSigners,
  trustedCrl,
} from "./read-certificates.ts";

export const show: Run<typeof CERTS_SHOW_OPTIONS> = async ({ options, words: [target] }, host) => {
  const layout = layoutOf(options.dir);
  const now = host.now();
  if (target === undefined) return certificatesView(await findAll(layout, now), now);
  const crl = await findCrl(layout, target);
  if (crl !== undefined) return crlView(target, crl, now);
  const facts = await findOne(layout, target, now);
  return { data: [facts], table: () => describe(facts, now), names: [facts.name] };
};

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
  const named = await readNamed(layout, await namesIn(layout), now);
  const all = [...(await readSigners(layout, now)), ...named];
  if (all.length > 0) return all;
  throw new CommandError(
    "error",
    `there are no certificates in ${layout.dir}. Make some: brokerctl certs init${dirFlag(layout)}`,
  );
}

/** A name first, then a path: a folder here that happens to be called like a cluster is not what was meant. */
async function findOne(layout: Layout, target: string, now: number): Promise<CertificateFacts> {
  const names = await namesIn(layout);
  const [found] = names.includes(target)
    ? await readNamed(layout, [target], now)
    : await gatherOther(layout, target, now);
  if (found !== undefined) return found;
  const signers = (await readSigners(layout, now)).map(({ name }) => name);
  const hint = didYouMean(target, [AUTHORITY, ...signers, ...names]);
  throw new CommandError(
    "error",
    `no certificate is called "${target}" in ${layout.dir}, and no file or folder${hint}`,
  );
}

/** A cluster may be called "ca"; the authority is meant only when there is none. */
async function gatherOther(
  layout: Layout,
  target: string,
  now: number,
): Promise<readonly CertificateFacts[]> {
  const signer = (await readSigners(layout, now)).filter(({ name }) => name === target);
  return signer.length > 0 ? signer : readPath(layout, target, now);
}

/** Several certificates, one line each. */
export function certificatesView(facts: readonly CertificateFacts[], now: number): View {
  return {
    data: facts,
    table: (isWide) => table(columnsAt(now), facts, isWide),
    names: facts.map(({ name }) => name),
  };
}

function columnsAt(now: number): readonly Column<CertificateFacts>[] {
  return [
    { title: "NAME", value: ({ name }) => name },
    { title: "USE", value: ({ use }) => use },
    { title: "EXPIRES", value: ({ notAfter }) => when(Date.parse(notAfter), now) },
    { title: "STATUS", value: ({ status }) => status },
    { title: "SERIAL", value: ({ serial }) => serial },
    ...wide<CertificateFacts>(
      { title: "SUBJECT", value: ({ subject }) => subject },
      { title: "HOSTS", value: ({ subjectAltNames }) => subjectAltNames.join(",") },
    ),
  ];
}

function describe(facts: CertificateFacts, now: number): string {
  return properties([
    ["Name", facts.name],
    ["File", facts.file],
    ["Subject", facts.subject],
    ["Issuer", facts.issuer],
    ["Serial", facts.serial],
    ["Valid from", when(Date.parse(facts.notBefore), now)],
    ["Expires", when(Date.parse(facts.notAfter), now)],
    ["Use", facts.use],
    ["Extended key usage", facts.extendedKeyUsages.join(", ") || "none"],
    ["Hosts", facts.subjectAltNames.join(", ") || "none"],
    ["SHA-256", facts.fingerprint256],
    ["Status", facts.problems.join("; ") || facts.status],
  ]);
}

/** What a revocation list says. */
function crlView(file: string, crl: CrlSummary, now: number): View {
  const revoked = [...crl.revoked].map(([serial, at]) => ({ serial, at: new Date(at).toISOString() }));
  const names = revoked.map(({ serial }) => serial);
  return {
    data: {
      file,
      thisUpdate: new Date(crl.thisUpdate).toISOString(),
      nextUpdate: new Date(crl.nextUpdate).toISOString(),
      revoked,
    },
    table: () =>
      properties([
        ["File", file],
        ["Signed", when(crl.thisUpdate, now)],
        ["Good until", when(crl.nextUpdate, now)],
        ["Revoked", names.join(", ") || "none"],
      ]),
    names,
  };
}
