import { join } from "node:path";
import { makeCrl, type Revocation } from "@resource-broker/runtime";
import type { Authority } from "./authority.ts";
import { type FileToWrite, PUBLIC, readText, writeFiles } from "./files.ts";
import { type Issued, saveRegister } from "./register.ts";

/**
 * Signs the revocation list anew and puts it where the broker reads it. Its next update is the authority's own end:
 * TLS refuses every certificate once a list is outdated, and nobody here signs one on a schedule.
 * Returns the files it wrote.
 */
export async function publishCrl(authority: Authority, now: number): Promise<readonly string[]> {
  const { layout, certificate, issuer } = authority;
  const register = { ...authority.register, crlNumber: authority.register.crlNumber + 1 };
  // The number is saved before it is used: a list may be skipped, but no number is used twice.
  await saveRegister(layout, register);
  const text = makeCrl(
    {
      number: register.crlNumber,
      thisUpdate: Math.max(now, certificate.validFromDate.getTime()),
      nextUpdate: certificate.validToDate.getTime(),
      revoked: register.issued.flatMap(toRevocation),
    },
    issuer,
  );
  const copies: FileToWrite[] = [{ path: layout.crl, text, mode: PUBLIC }];
  const hasBroker = (await readText(join(layout.broker, "tls.crt"))) !== undefined;
  if (hasBroker) copies.push({ path: join(layout.broker, "crl.pem"), text, mode: PUBLIC });
  await writeFiles(copies);
  return copies.map(({ path }) => path);
}

function toRevocation({ serial, revoked }: Issued): Revocation[] {
  return revoked === undefined ? [] : [{ serial, at: Date.parse(revoked.at), reason: revoked.reason }];
}
