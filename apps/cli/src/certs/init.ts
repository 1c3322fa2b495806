import { join } from "node:path";
import type { Input } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import type { Host } from "../cli/host.ts";
import {
  type Authority,
  createAuthority,
  dirFlag,
  hasAuthority,
  openAuthority,
  setAside,
} from "./authority.ts";
import { foldersIn, makePrivateFolder, PUBLIC, readText, writeFiles } from "./files.ts";
import { DEFAULT_HOSTS, readHosts } from "./hosts.ts";
import { issueLeaf } from "./issue-leaf.ts";
import { BROKER, type Layout, layoutOf } from "./layout.ts";
import { withLock } from "./lock.ts";
import type { INIT_OPTIONS } from "./options.ts";
import { publishCrl } from "./publish-crl.ts";
import { readAuthority, readNamed } from "./read-certificates.ts";
import { printCertificates } from "./view.ts";

type InitOptions = Input<typeof INIT_OPTIONS>["options"];

/** Makes what is missing: the authority, its revocation list, the broker's certificate. Running it again is harmless. */
export async function init({ options }: Input<typeof INIT_OPTIONS>, host: Host): Promise<void> {
  const layout = layoutOf(options.dir);
  const hosts = readHosts(options.host);
  if (makePrivateFolder(layout.dir)) await keepOutOfGit(layout);
  await withLock(layout, host, async () => {
    const isReplaced = options.force && (await hasAuthority(layout));
    if (isReplaced) await replaceAuthority(layout, host);
    const authority = await openOrCreate(layout, options, host);
    if (!isReplaced && (await hasBrokerCertificate(layout))) keepBroker(authority, hosts, host);
    else await makeBroker(authority, { ...options, host: hosts }, host);
  });
  const now = host.now();
  const facts = [...(await readAuthority(layout, now)), ...(await readNamed(layout, [BROKER], now))];
  printCertificates(facts, options.output, host);
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
    `Made a certificate authority in ${layout.ca}. Keep that folder private: whoever has its key can issue certificates for every cluster and admin\n`,
  );
  return authority;
}

async function hasBrokerCertificate(layout: Layout): Promise<boolean> {
  const files = await Promise.all(["tls.key", "tls.crt"].map((file) => readText(join(layout.broker, file))));
  return files.some((file) => file !== undefined);
}

/** The broker's certificate stays as it is; names that it lacks are a reason to stop, not to overwrite its key. */
function keepBroker({ register, layout }: Authority, hosts: readonly string[], host: Host): void {
  const current = register.issued.findLast(({ name }) => name === BROKER);
  const lacking = hosts.filter((name) => current?.hosts.includes(name) === false);
  if (lacking.length === 0)
    return host.note(`All files exist already in ${layout.dir}; nothing was changed\n`);
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
  host.note(`Next, for each cluster: brokerctl certs issue <cluster-id>${dirFlag(layout)}\n`);
}
