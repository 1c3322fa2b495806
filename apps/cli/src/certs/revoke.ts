import type { Input } from "../cli/command.ts";
import { didYouMean } from "../cli/did-you-mean.ts";
import { CommandError } from "../cli/exit-code.ts";
import type { Host } from "../cli/host.ts";
import { print } from "../output/print.ts";
import { table } from "../output/table.ts";
import { when } from "../output/when.ts";
import { type Authority, openAuthority } from "./authority.ts";
import { layoutOf } from "./layout.ts";
import { withLock } from "./lock.ts";
import type { REVOKE_OPTIONS } from "./options.ts";
import { publishCrl } from "./publish-crl.ts";
import type { Issued } from "./register.ts";

type RevokeInput = Input<typeof REVOKE_OPTIONS>;

export async function revoke({ options, words }: RevokeInput, host: Host): Promise<void> {
  const [target = ""] = words;
  const layout = layoutOf(options.dir);
  await openAuthority(layout, host.now());
  const ended = await withLock(layout, host, async () => {
    const authority = await openAuthority(layout, host.now());
    const serials = await serialsOf(authority, target);
    const revoked = { at: new Date(host.now()).toISOString(), reason: options.reason };
    const issued = authority.register.issued.map((entry) =>
      serials.has(entry.serial) && entry.revoked === undefined ? { ...entry, revoked } : entry,
    );
    // Published even if nothing is new: a list that was lost or never arrived is put right by asking again.
    const files = await publishCrl({ ...authority, register: { ...authority.register, issued } }, host.now());
    host.note(`Signed ${files.join(" and ")}; a broker elsewhere needs a copy in its certificate folder\n`);
    const isNew = ({ serial, revoked: before }: Issued): boolean =>
      serials.has(serial) && before === undefined;
    if (!authority.register.issued.some(isNew)) host.note(`${target} was revoked already\n`);
    return issued.filter(({ serial }) => serials.has(serial));
  });
  printRevoked(ended, options.output, host);
}

/** A cluster's name means all its certificates; a serial number, in any usual spelling, means one. */
async function serialsOf({ register, layout }: Authority, target: string): Promise<ReadonlySet<string>> {
  const ofCluster = register.issued.filter(({ name }) => name === target);
  const wanted = target.replaceAll(":", "").replace(/^0x/iu, "").toUpperCase();
  const found = ofCluster.length > 0 ? ofCluster : register.issued.filter(({ serial }) => serial === wanted);
  if (found.length > 0) return new Set(found.map(({ serial }) => serial));
  const hint = await didYouMean(
    target,
    register.issued.map(({ name }) => name),
  );
  throw new CommandError(
    "error",
    `the authority in ${layout.ca} has issued no certificate to "${target}" and none with that serial number${hint}`,
  );
}

function printRevoked(ended: readonly Issued[], format: RevokeInput["options"]["output"], host: Host): void {
  const columns = [
    { title: "NAME", value: ({ name }: Issued) => name },
    { title: "SERIAL", value: ({ serial }: Issued) => serial },
    {
      title: "REVOKED",
      value: ({ revoked }: Issued) => (revoked === undefined ? "" : when(Date.parse(revoked.at), host.now())),
    },
    { title: "REASON", value: ({ revoked }: Issued) => revoked?.reason ?? "" },
  ];
  const view = {
    data: ended,
    table: () => table(columns, ended),
    names: () => ended.map(({ serial }) => serial),
  };
  print(view, format, host);
}
