import type { Run } from "../cli/command.ts";
import { CommandError, didYouMean } from "../cli/exit-code.ts";
import { type Column, table } from "../output/print.ts";
import { when } from "../output/text.ts";
import { type Authority, withAuthority } from "./authority.ts";
import { layoutOf } from "./files.ts";
import type { CERTS_REVOKE_OPTIONS } from "../commands/local-options.ts";
import { publishCrl } from "./issue.ts";
import type { Issued } from "./register.ts";

export const revoke: Run<typeof CERTS_REVOKE_OPTIONS> = async ({ options, words: [target = ""] }, host) => {
  const layout = layoutOf(options.dir);
  const ended = await withAuthority(layout, host, async (authority) => {
    const serials = serialsOf(authority, target);
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
  return {
    data: ended,
    table: () => table(columnsAt(host.now()), ended),
    names: ended.map(({ serial }) => serial),
  };
};

/** A cluster's name means all its certificates; a serial number, in any usual spelling, means one. */
function serialsOf({ register, layout }: Authority, target: string): ReadonlySet<string> {
  const ofCluster = register.issued.filter(({ name, use }) => name === target && use !== "authority");
  const wanted = target.replaceAll(":", "").replace(/^0x/iu, "").toUpperCase();
  const found = ofCluster.length > 0 ? ofCluster : register.issued.filter(({ serial }) => serial === wanted);
  if (found.length > 0) return new Set(found.map(({ serial }) => serial));
  const hint = didYouMean(
    target,
    register.issued.map(({ name }) => name),
  );
  throw new CommandError(
    "error",
    `the authority in ${layout.ca} has issued no certificate to "${target}" and none with that serial number${hint}`,
  );
}

function columnsAt(now: number): readonly Column<Issued>[] {
  return [
    { title: "NAME", value: ({ name }) => name },
    { title: "SERIAL", value: ({ serial }) => serial },
    {
      title: "REVOKED",
      value: ({ revoked }) => (revoked === undefined ? "" : when(Date.parse(revoked.at), now)),
    },
    { title: "REASON", value: ({ revoked }) => revoked?.reason ?? "" },
  ];
}
