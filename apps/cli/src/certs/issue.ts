import { join } from "node:path";
import { NOBODY } from "@resource-broker/contract/crd";
import { checkClusterId } from "../cli/cluster-id.ts";
import type { Input } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import type { Host } from "../cli/host.ts";
import { type Authority, dirFlag, openAuthority } from "./authority.ts";
import { readText } from "./files.ts";
import { issueLeaf } from "./issue-leaf.ts";
import { BROKER, folderOf, type Layout, layoutOf } from "./layout.ts";
import { withLock } from "./lock.ts";
import type { ISSUE_OPTIONS } from "./options.ts";
import { readNamed } from "./read-certificates.ts";
import { printCertificates } from "./view.ts";

export async function issue({ options, words }: Input<typeof ISSUE_OPTIONS>, host: Host): Promise<void> {
  const [id = ""] = words;
  checkId(id);
  const layout = layoutOf(options.dir);
  const now = host.now();
  await openAuthority(layout, now); // before anything is made, the lock's folder included
  await withLock(layout, host, async () => {
    const authority = await openAuthority(layout, now);
    const replaces = await holdsKey(layout, id);
    if (replaces && !options.force) throw wouldOverwrite(layout, id);
    const { admin, days } = options;
    await issueLeaf(authority, { name: id, admin, hosts: [], days, now });
    host.note(`Made ${folderOf(layout, id)}: tls.crt, tls.key, ca.crt\n`);
    if (replaces) noteOldOnes(authority, id, host);
  });
  printCertificates(await readNamed(layout, [id], now), options.output, host);
}

function checkId(id: string): void {
  if (id === BROKER || id === NOBODY) {
    throw new CommandError(
      "usage",
      `"${id}" is reserved for the broker: the broker refuses a cluster with this ID. Choose another`,
    );
  }
  checkClusterId(id, [BROKER, NOBODY]);
}

async function holdsKey(layout: Layout, id: string): Promise<boolean> {
  const folder = folderOf(layout, id);
  const files = await Promise.all(["tls.key", "tls.crt"].map((file) => readText(join(folder, file))));
  return files.some((file) => file !== undefined);
}

function wouldOverwrite(layout: Layout, id: string): CommandError {
  const flag = dirFlag(layout);
  return new CommandError(
    "conflict",
    [
      `${folderOf(layout, id)} holds a key or certificate already; nothing was changed.`,
      `  For a new certificate in time:  brokerctl certs renew ${id}${flag}`,
      `  To replace both regardless:     brokerctl certs issue ${id} --force${flag}`,
    ].join("\n"),
  );
}

/** Replacing the files does not revoke the old certificate: a copy of it can still be used. */
function noteOldOnes({ register, layout }: Authority, id: string, host: Host): void {
  const now = host.now();
  const alive = register.issued.filter(
    ({ name, revoked, notAfter }) => name === id && revoked === undefined && Date.parse(notAfter) > now,
  );
  for (const { serial } of alive) {
    host.note(
      `An older certificate stays valid until it expires. To revoke it: brokerctl certs revoke ${serial}${dirFlag(layout)}\n`,
    );
  }
}
