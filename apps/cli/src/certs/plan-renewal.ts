import type { X509Certificate } from "node:crypto";
import { join } from "node:path";
import { didYouMean } from "../cli/did-you-mean.ts";
import { when } from "../output/when.ts";
import { type Authority, dirFlag } from "./authority.ts";
import { readCertificates } from "./certificate-facts.ts";
import { foldersIn, readText } from "./files.ts";
import type { LeafRequest } from "./issue-leaf.ts";
import { BROKER, folderOf } from "./layout.ts";
import type { Issued } from "./register.ts";
import { isKeyOf } from "./verify-certificate.ts";

export interface RenewalOptions {
  readonly now: number;
  /** Undefined: for as long as the old one. */
  readonly days: number | undefined;
  /** Only if it expires within this time; undefined: in any case. */
  readonly withinMs: number | undefined;
  readonly keepKey: boolean;
  /** New names for the broker's certificate; none: those it has. */
  readonly hosts: readonly string[];
}

export type RenewalPlan = { readonly kind: "renew"; readonly order: LeafRequest } | NotRenewed;

export interface NotRenewed {
  /** "not-due" is fine; "impossible" needs somebody to do something. */
  readonly kind: "not-due" | "impossible";
  readonly why: string;
}

/** Looks at what is there and says what to do about it; changes nothing. */
export async function planRenewal(
  authority: Authority,
  name: string,
  options: RenewalOptions,
): Promise<RenewalPlan> {
  const current = await readCurrent(authority, name);
  if (current === undefined) return impossible(await notThere(authority, name));
  const { certificate, issued, keyPem } = current;
  const flag = dirFlag(authority.layout);
  if (issued === undefined) {
    return impossible(`${name}'s certificate is not from this authority. Replace it: ${remedy(name, flag)}`);
  }
  if (issued.revoked !== undefined) {
    return impossible(`${name}'s certificate is revoked. To issue a new one: ${remedy(name, flag)}`);
  }
  const end = Date.parse(issued.notAfter);
  if (options.withinMs !== undefined && end - options.now > options.withinMs) {
    return { kind: "not-due", why: `${name} expires ${when(end, options.now)}` };
  }
  if (options.keepKey && (keyPem === undefined || !isKeyOf(certificate, keyPem))) {
    return impossible(`${name}'s tls.key is not the key of its tls.crt; renew it without --keep-key`);
  }
  return { kind: "renew", order: leafRequestFor(issued, options, keyPem) };
}

function leafRequestFor(
  { name, admin, hosts, days }: Issued,
  options: RenewalOptions,
  keyPem: string | undefined,
): LeafRequest {
  return {
    name,
    admin,
    hosts: options.hosts.length === 0 ? hosts : options.hosts,
    days: options.days ?? days,
    now: options.now,
    ...(options.keepKey && keyPem !== undefined ? { keyPem } : {}),
  };
}

interface Current {
  readonly certificate: X509Certificate;
  readonly keyPem: string | undefined;
  /** Undefined: this authority did not sign it. */
  readonly issued: Issued | undefined;
}

async function readCurrent({ layout, register }: Authority, name: string): Promise<Current | undefined> {
  const folder = folderOf(layout, name);
  const file = join(folder, "tls.crt");
  const [certificate] = readCertificates((await readText(file)) ?? "", file);
  if (certificate === undefined) return undefined;
  const issued = register.issued.find(
    (entry) => entry.name === name && entry.serial === certificate.serialNumber,
  );
  return { certificate, keyPem: await readText(join(folder, "tls.key")), issued };
}

async function notThere({ layout }: Authority, name: string): Promise<string> {
  const hint = await didYouMean(name, [BROKER, ...(await foldersIn(layout.clusters))]);
  return `there is no certificate in ${folderOf(layout, name)}${hint}`;
}

function remedy(name: string, flag: string): string {
  // The broker's certificate is made by init, which makes whatever is not there.
  return name === BROKER
    ? `remove its folder and run brokerctl certs init${flag}`
    : `brokerctl certs issue ${name} --force${flag}`;
}

function impossible(why: string): NotRenewed {
  return { kind: "impossible", why };
}
