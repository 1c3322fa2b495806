import { isIP } from "node:net";
import { join } from "node:path";
import type { Host, Run, Values } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import {
  type Authority,
  createAuthority,
  dirFlag,
  hasAuthority,
  openAuthority,
  setAside,
} from "./authority.ts";
import type { CERTS_INIT_OPTIONS } from "../commands/local-options.ts";
import {
  BROKER,
  foldersIn,
  holdsKey,
  type Layout,
  layoutOf,
  makePrivateFolder,
  PUBLIC,
  withLock,
  writeFiles,
} from "./files.ts";
import { hasEnrollment, makeEnrollment, upgrade } from "./enrollment.ts";
import { issueLeaf, publishCrl } from "./issue.ts";
import { readNamed, readSigners } from "./read-certificates.ts";
import { certificatesView } from "./show.ts";

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

type InitOptions = Values<typeof CERTS_INIT_OPTIONS>;

/** Makes what is missing: the authority, its revocation list, the broker's certificate. Running it again is harmless. */
export const init: Run<typeof CERTS_INIT_OPTIONS> = async ({ options }, host) => {
  const layout = layoutOf(options.dir);
  const hosts = readHosts(options.host);
  if (makePrivateFolder(layout.dir)) await keepOutOfGit(layout);
  await withLock(layout, host, async () => {
    const isReplaced = options.force && (await hasAuthority(layout));
    if (isReplaced) await replaceAuthority(layout, host);
    const opened = await openOrCreate(layout, options, host);
    const isUpgraded = options.upgrade && opened.admins === undefined;
    const upgraded = isUpgraded ? await upgrade(opened, host) : opened;
    const keepsBroker = !isReplaced && (await holdsKey(layout, BROKER));
    if (keepsBroker) checkHosts(upgraded, hosts);
    const authority = await ensureEnrollment(upgraded, isReplaced, { options, host });
    if (!keepsBroker) await makeBroker(authority, { ...options, host: hosts }, host);
    else if (authority === opened)
      host.note(`All files exist already in ${layout.dir}; nothing was changed\n`);
  });
  const now = host.now();
  const facts = [...(await readSigners(layout, now)), ...(await readNamed(layout, [BROKER], now))];
  return certificatesView(facts, now);
};

/** A folder of an earlier version has no admin authority; it stays as it is until somebody asks for more. */
async function ensureEnrollment(
  authority: Authority,
  isReplaced: boolean,
  { options, host }: { readonly options: InitOptions; readonly host: Host },
): Promise<Authority> {
  const { layout, admins } = authority;
  if (admins === undefined || (!isReplaced && (await hasEnrollment(layout)))) return authority;
  const made = await makeEnrollment(authority, { now: host.now(), days: options["ca-days"] });
  host.note(
    `Made ${layout.enrollment}: with --enrollment-cert-path a broker signs the certificates of clusters that join by brokerctl invite\n`,
  );
  return made;
}

/** Keys must not end up in a repository because somebody ran this inside one. */
async function keepOutOfGit(layout: Layout): Promise<void> {
  await writeFiles([{ path: join(layout.dir, ".gitignore"), text: "*\n", mode: PUBLIC }]);
}

async function replaceAuthority(layout: Layout, host: Host): Promise<void> {
  const aside = await setAside(layout, host.now());
  host.note(`Moved the old authority to ${aside}: its certificates no longer work here\n`);
  for (const id of await foldersIn(layout.clusters)) {
    host.note(`To give ${id} a new certificate: brokerctl certs issue ${id} --force${dirFlag(layout)}\n`);
  }
}

async function openOrCreate(layout: Layout, options: InitOptions, host: Host): Promise<Authority> {
  if (await hasAuthority(layout)) return openAuthority(layout, host.now());
  const authority = await createAuthority(layout, host.now(), options["ca-days"]);
  host.note(
    `Made a certificate authority in ${layout.ca}, and one for admins beside it. Keep that folder private: whoever has its keys can issue certificates for every cluster and admin\n`,
  );
  return authority;
}

/** The broker's certificate stays as it is; names that it lacks are a reason to stop, not to overwrite its key. */
function checkHosts({ register, layout }: Authority, hosts: readonly string[]): void {
  const current = register.issued.findLast(({ name }) => name === BROKER);
  const lacking = hosts.filter((name) => current?.hosts.includes(name) === false);
  if (lacking.length === 0) return;
  const wanted = [...new Set([...(current?.hosts ?? []), ...hosts])]
    .map((name) => ` --host ${name}`)
    .join("");
  throw new CommandError(
    "conflict",
    `the broker's certificate exists already and does not contain ${lacking.join(", ")}. Change its names: brokerctl certs renew ${BROKER}${wanted}${dirFlag(layout)}`,
  );
}

async function makeBroker(authority: Authority, options: InitOptions, host: Host): Promise<void> {
  const { layout } = authority;
  const now = host.now();
  const hosts = options.host.length === 0 ? DEFAULT_HOSTS : options.host;
  const issued = await issueLeaf(authority, { name: BROKER, admin: false, hosts, days: options.days, now });
  await publishCrl(issued, now);
  host.note(`Made the broker's certificate for ${hosts.join(", ")} in ${layout.broker}\n`);
  host.note(`Next, for yourself: brokerctl certs issue <your-name> --admin${dirFlag(layout)}\n`);
  host.note(
    `Then, for each cluster: brokerctl invite <cluster-id>, or without joining: brokerctl certs issue <cluster-id>${dirFlag(layout)}\n`,
  );
}
