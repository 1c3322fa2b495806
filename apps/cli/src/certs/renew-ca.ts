import { join } from "node:path";
import type { Host } from "../cli/host.ts";
import { when } from "../output/when.ts";
import { openAuthority, readAuthorityCertificate, renewAuthority } from "./authority.ts";
import type { CertificateFacts } from "./certificate-facts.ts";
import { type FileToWrite, foldersIn, PUBLIC, readText, writeFiles } from "./files.ts";
import { BROKER, folderOf, type Layout } from "./layout.ts";
import { withLock } from "./lock.ts";
import { publishCrl } from "./publish-crl.ts";
import { readAuthority } from "./read-certificates.ts";

interface RenewCaOptions {
  readonly days: number | undefined;
  readonly within: number | undefined;
}

/** Gives the authority a new certificate for its old key and puts a copy into every folder. Returns what was renewed. */
export async function renewCa(
  layout: Layout,
  { days, within }: RenewCaOptions,
  host: Host,
): Promise<readonly CertificateFacts[]> {
  const now = host.now();
  const current = await readAuthorityCertificate(layout);
  if (current === undefined) await openAuthority(layout, now); // throws an error that names the missing file
  const end = current?.validToDate.getTime() ?? now;
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
  const folders = [BROKER, ...(await foldersIn(layout.clusters))].map((name) => folderOf(layout, name));
  const files = await Promise.all(
    folders.map(async (folder) =>
      (await readText(join(folder, "tls.crt"))) === undefined ? [] : [join(folder, "ca.crt")],
    ),
  );
  return files.flat().map((path) => ({ path, text, mode: PUBLIC }));
}
