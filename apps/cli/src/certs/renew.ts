import type { X509Certificate } from "node:crypto";
import { join } from "node:path";
import type { Host, Input, Run, Values } from "../cli/command.ts";
import { CommandError, didYouMean } from "../cli/exit-code.ts";
import { when } from "../output/text.ts";
import {
  type Authority,
  dirFlag,
  type Issued,
  readAuthorityCertificate,
  renewAuthority,
  withAuthority,
} from "./authority.ts";
import { type CertificateFacts, isKeyOf, readCertificates } from "./certificate-facts.ts";
import type { CERTS_RENEW_OPTIONS } from "../commands/local-options.ts";
import {
  BROKER,
  type FileToWrite,
  folderOf,
  type Layout,
  layoutOf,
  namesIn,
  PUBLIC,
  readText,
  withLock,
  writeFiles,
} from "./files.ts";
import { readHosts } from "./init.ts";
import { issueLeaf, type LeafRequest, publishCrl } from "./issue.ts";
import { readAuthority, readNamed } from "./read-certificates.ts";
import { certificatesView } from "./show.ts";

type Options = Values<typeof CERTS_RENEW_OPTIONS>;

export const renew: Run<typeof CERTS_RENEW_OPTIONS> = async (input, host) => {
  const { words } = input;
  checkTarget(input);
  const options = { ...input.options, host: readHosts(input.options.host) };
  const renewed = options.ca ? await renewCa(options, host) : await renewLeaves(words[0], options, host);
  return certificatesView(renewed, host.now());
};

function checkTarget({ options, words }: Input<typeof CERTS_RENEW_OPTIONS>): void {
  const targets = [words.length > 0, options.all, options.ca].filter(Boolean).length;
  if (targets !== 1) throw new CommandError("usage", "say which to renew: one name, --all or --ca");
  if (options.host.length > 0 && words[0] !== BROKER) {
    throw new CommandError(
      "usage",
      `--host is for the broker's certificate: brokerctl certs renew ${BROKER} --host …`,
    );
  }
  if (options.ca && options["keep-key"])
    throw new CommandError("usage", "--ca always keeps its key; leave --keep-key out");
}

/** Returns what was renewed. If one certificate cannot be renewed, the others still are. */
async function renewLeaves(
  only: string | undefined,
  options: Options,
  host: Host,
): Promise<readonly CertificateFacts[]> {
  const layout = layoutOf(options.dir);
  const now = host.now();
  return withAuthority(layout, host, async (opened) => {
    let authority = opened;
    const names = only === undefined ? await namesIn(layout) : [only];
    const renewed: string[] = [];
    for (const name of names) {
      const plan = await planRenewal(authority, name, { options, now });
      if (plan.kind === "renew") {
        authority = await issueLeaf(authority, plan.order);
        renewed.push(name);
      } else reportNotRenewed(plan, { isOnlyOne: only !== undefined, host });
    }
    noteRenewed(renewed, layout, host);
    return readNamed(layout, renewed, now);
  });
}

function noteRenewed(names: readonly string[], layout: Layout, host: Host): void {
  if (names.length === 0) host.note("Nothing was renewed\n");
  if (names.includes(BROKER))
    host.note(`A broker that uses ${layout.broker} reads its new certificate by itself\n`);
  const clusters = names.filter((name) => name !== BROKER);
  if (clusters.length > 0)
    host.note(
      `Copy the new files to ${clusters.join(", ")}; the old certificates stay valid until they expire\n`,
    );
}

function reportNotRenewed(plan: NotRenewed, { isOnlyOne, host }: { isOnlyOne: boolean; host: Host }): void {
  if (plan.kind === "impossible" && isOnlyOne) throw new CommandError("error", plan.why);
  host.note(`Not renewed: ${plan.why}\n`);
}

interface RenewalContext {
  readonly options: Options;
  readonly now: number;
}

type RenewalPlan = { readonly kind: "renew"; readonly order: LeafRequest } | NotRenewed;

interface NotRenewed {
  /** "not-due" is fine; "impossible" needs somebody to do something. */
  readonly kind: "not-due" | "impossible";
  readonly why: string;
}

/** Looks at what is there and says what to do about it; changes nothing. */
async function planRenewal(
  authority: Authority,
  name: string,
  { options, now }: RenewalContext,
): Promise<RenewalPlan> {
  const current = await readCurrent(authority, name);
  if (current === undefined) return impossible(await notThere(authority, name));
  const { issued } = current;
  const flag = dirFlag(authority.layout);
  if (issued === undefined) {
    return impossible(`${name}'s certificate is not from this authority. Replace it: ${remedy(name, flag)}`);
  }
  if (issued.revoked !== undefined) {
    return impossible(`${name}'s certificate is revoked. To issue a new one: ${remedy(name, flag)}`);
  }
  const end = Date.parse(issued.notAfter);
  if (options.within !== undefined && end - now > options.within) {
    return { kind: "not-due", why: `${name} expires ${when(end, now)}` };
  }
  return planLeaf({ ...current, issued }, { options, now });
}

function planLeaf(
  { certificate, issued, keyPem }: Current & { readonly issued: Issued },
  { options, now }: RenewalContext,
): RenewalPlan {
  const { name, admin, hosts, days } = issued;
  const order = {
    name,
    admin,
    hosts: options.host.length === 0 ? hosts : options.host,
    days: options.days ?? days,
    now,
  };
  if (!options["keep-key"]) return { kind: "renew", order };
  if (keyPem === undefined || !isKeyOf(certificate, keyPem)) {
    return impossible(`${name}'s tls.key is not the key of its tls.crt; renew it without --keep-key`);
  }
  return { kind: "renew", order: { ...order, keyPem } };
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
  const hint = didYouMean(name, await namesIn(layout));
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

/** Gives the authority a new certificate for its old key and puts a copy into every folder. Returns what was renewed. */
async function renewCa({ dir, days, within }: Options, host: Host): Promise<readonly CertificateFacts[]> {
  const layout = layoutOf(dir);
  const now = host.now();
  const current = await readAuthorityCertificate(layout);
  const end = current.validToDate.getTime();
  if (within !== undefined && end - now > within) {
    host.note(`Not renewed: the authority expires ${when(end, now)}\n`);
    return [];
  }
  await withLock(layout, host, async () => {
    const authority = await renewAuthority(layout, now, days);
    await writeFiles(await copiesOf(authority.certificate.toString(), layout));
    await publishCrl(authority, now); // its next update moves with the authority's end
  });
  host.note(
    `Renewed the authority. Its key is the same, so every certificate stays valid. Distribute the new ca.crt before ${when(end, now)}\n`,
  );
  return readAuthority(layout, now);
}

async function copiesOf(text: string, layout: Layout): Promise<readonly FileToWrite[]> {
  const folders = (await namesIn(layout)).map((name) => folderOf(layout, name));
  const files = await Promise.all(
    folders.map(async (folder) =>
      (await readText(join(folder, "tls.crt"))) === undefined ? [] : [join(folder, "ca.crt")],
    ),
  );
  return files.flat().map((path) => ({ path, text, mode: PUBLIC }));
}
