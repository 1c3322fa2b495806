import type { X509Certificate } from "node:crypto";
import { join } from "node:path";
import type { Host, Input, Run, Values } from "../cli/command.ts";
import { CommandError, didYouMean } from "../cli/exit-code.ts";
import { when } from "../output/text.ts";
import {
  type Authority,
  dirFlag,
  readAuthorityCertificate,
  renewAuthority,
  withAuthority,
} from "./authority.ts";
import { type CertificateFacts, isKeyOf, readCertificates } from "./certificate-facts.ts";
import type { CERTS_RENEW_OPTIONS } from "../commands/local-options.ts";
import { BROKER, ENROLLMENT, folderOf, type Layout, layoutOf, namesIn, readText, withLock } from "./files.ts";
import { distribute, hasEnrollment, makeEnrollment, noEnrollment } from "./enrollment.ts";
import { readHosts } from "./init.ts";
import { issueLeaf, type LeafRequest, publishCrl } from "./issue.ts";
import { readNamed, readSigners } from "./read-certificates.ts";
import type { Issued } from "./register.ts";
import { certificatesView } from "./show.ts";

type Options = Values<typeof CERTS_RENEW_OPTIONS>;

export const renew: Run<typeof CERTS_RENEW_OPTIONS> = async (input, host) => {
  const { words } = input;
  checkTarget(input);
  const options = { ...input.options, host: readHosts(input.options.host) };
  if (options.ca) return certificatesView(await renewCa(options, host), host.now());
  const renewed = options.enrollment
    ? await renewEnrollment(options, host)
    : await renewLeaves(words[0], options, host);
  return certificatesView(renewed, host.now());
};

function checkTarget({ options, words }: Input<typeof CERTS_RENEW_OPTIONS>): void {
  const targets = [words.length > 0, options.all, options.ca, options.enrollment].filter(Boolean).length;
  if (targets !== 1)
    throw new CommandError("usage", "say which to renew: one name, --all, --ca or --enrollment");
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
    host.note(
      `A broker that uses ${layout.broker} reads its new certificate by itself. ${inKubernetes("broker-server-tls", layout.broker)}`,
    );
  const clusters = names.filter((name) => name !== BROKER);
  if (clusters.length > 0)
    host.note(
      `Copy the new files to ${clusters.join(", ")}; the old certificates stay valid until they expire\n`,
    );
}

/** The names of docs/install.md. */
function inKubernetes(secret: string, folder: string): string {
  const create = `kubectl create secret generic ${secret} -n resource-broker-system --from-file=${folder}`;
  // Without --force-conflicts, apply refuses a Secret that kubectl create has made.
  const apply = "kubectl apply --server-side --force-conflicts -f -";
  return `In Kubernetes replace the Secret ${secret}, or the one you named:\n  ${create} --dry-run=client -o yaml | ${apply}\n`;
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
  if (issued.fromRequest === true) {
    return impossible(
      `${name}'s key is not here: its certificate was signed from a request. Sign a new one: brokerctl certs sign ${name} --csr <file> --force`,
    );
  }
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
    (entry) => entry.name === name && entry.use !== "authority" && entry.serial === certificate.serialNumber,
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

async function renewEnrollment(options: Options, host: Host): Promise<readonly CertificateFacts[]> {
  const layout = layoutOf(options.dir);
  const now = host.now();
  const isDue = async (): Promise<boolean> => {
    if (!(await hasEnrollment(layout))) throw noEnrollment(layout);
    const current = (await readSigners(layout, now)).find(({ name }) => name === ENROLLMENT);
    const end = current === undefined ? now : Date.parse(current.notAfter);
    if (options.within === undefined || end - now <= options.within) return true;
    host.note(`Not renewed: the authority of joining clusters expires ${when(end, now)}\n`);
    return false;
  };
  return withAuthority(layout, host, async (authority) => {
    if (!(await isDue())) return [];
    const last = authority.register.issued.findLast(({ use }) => use === "authority");
    const days = options.days ?? last?.days ?? 1;
    await makeEnrollment(authority, { now, days, keepsKey: options["keep-key"] });
    host.note(
      `A broker that uses ${layout.enrollment} reads it by itself; what it has signed stays valid. ${inKubernetes("broker-enrollment", layout.enrollment)}`,
    );
    return (await readSigners(layout, now)).filter(({ name }) => name === ENROLLMENT);
  });
}

/** Gives the authorities new certificates for their old keys and puts copies into every folder. Returns what was renewed. */
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
    await distribute(authority);
    await publishCrl(authority, now); // its next update moves with the authority's end
  });
  host.note(
    `Renewed the authority. Its key is the same, so every certificate stays valid. Distribute the new ca.crt before ${when(end, now)}\n`,
  );
  return (await readSigners(layout, now)).filter(({ name }) => name !== ENROLLMENT);
}
