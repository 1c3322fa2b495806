import { type Csr, readCsr, requireSubject, SUBJECT_ATTRIBUTE } from "@resource-broker/runtime";
import type { Run } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import type { CERTS_SIGN_OPTIONS } from "../commands/local-options.ts";
import { dirFlag, withAuthority } from "./authority.ts";
import { folderOf, holdsKey, layoutOf, readNamedFile } from "./files.ts";
import { checkLeafId, issueLeaf, noteOldOnes } from "./issue.ts";
import { readNamed } from "./read-certificates.ts";
import { certificatesView } from "./show.ts";

/** Signs a request whose key stays where it was made. The certificate has the cluster's ID and nothing else of the request's. */
export const sign: Run<typeof CERTS_SIGN_OPTIONS> = async ({ options, words: [given] }, host) => {
  const { csr: file, days, dir } = options;
  if (file === undefined)
    throw new CommandError("usage", "--csr is missing: the file with the request in PEM");
  const { csr, id } = await readRequest(file, given);
  const layout = layoutOf(dir);
  const now = host.now();
  await withAuthority(layout, host, async (authority) => {
    const replaces = await holdsKey(layout, id);
    if (replaces && !options.force) {
      throw new CommandError(
        "conflict",
        `${folderOf(layout, id)} holds a key or certificate already; nothing was changed. To replace both: brokerctl certs sign ${id} --csr ${file} --force${dirFlag(layout)}`,
      );
    }
    const order = { name: id, admin: false, hosts: [], days, now, publicKey: csr.publicKey };
    const signed = await issueLeaf(authority, order);
    host.note(`Made ${folderOf(layout, id)}: tls.crt, ca.crt. The key is where the request was made\n`);
    if (replaces) noteOldOnes({ ...signed, register: authority.register }, id, host);
  });
  return certificatesView(await readNamed(layout, [id], now), now);
};

async function readRequest(
  file: string,
  wanted: string | undefined,
): Promise<{ readonly csr: Csr; readonly id: string }> {
  if (wanted !== undefined) checkLeafId(wanted);
  const text = await readNamedFile(file, "--csr names the file with the request");
  let id = wanted;
  try {
    const csr = readCsr(text);
    id ??= csr.subject.find(([attribute]) => attribute === SUBJECT_ATTRIBUTE.commonName)?.[1] ?? "";
    checkLeafId(id);
    requireSubject(csr, [[SUBJECT_ATTRIBUTE.commonName, id]]);
    return { csr, id };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw notSigned(file, id ?? "<cluster-id>", error);
  }
}

function notSigned(file: string, id: string, cause: RangeError): CommandError {
  return new CommandError(
    "error",
    `${file} is not signed: ${cause.message}. Make it for exactly CN=${id}: openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout tls.key -out ${id}.csr -subj /CN=${id}`,
    { cause },
  );
}
