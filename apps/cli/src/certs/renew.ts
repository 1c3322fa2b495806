import type { Input } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import type { Host } from "../cli/host.ts";
import { type Authority, openAuthority } from "./authority.ts";
import type { CertificateFacts } from "./certificate-facts.ts";
import { foldersIn } from "./files.ts";
import { readHosts } from "./hosts.ts";
import { issueLeaf } from "./issue-leaf.ts";
import { BROKER, type Layout, layoutOf } from "./layout.ts";
import { withLock } from "./lock.ts";
import type { RENEW_OPTIONS } from "./options.ts";
import { type NotRenewed, planRenewal, type RenewalOptions } from "./plan-renewal.ts";
import { readNamed } from "./read-certificates.ts";
import { renewCa } from "./renew-ca.ts";
import { printCertificates } from "./view.ts";

type RenewInput = Input<typeof RENEW_OPTIONS>;

export async function renew(input: RenewInput, host: Host): Promise<void> {
  const { options, words } = input;
  checkTarget(input);
  const layout = layoutOf(options.dir);
  const renewed = options.ca
    ? await renewCa(layout, options, host)
    : await renewLeaves(layout, { only: words[0], renewal: renewalOptions(options, host) }, host);
  printCertificates(renewed, options.output, host);
}

function checkTarget({ options, words }: RenewInput): void {
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

function renewalOptions(options: RenewInput["options"], host: Host): RenewalOptions {
  return {
    now: host.now(),
    days: options.days,
    withinMs: options.within,
    keepKey: options["keep-key"],
    hosts: readHosts(options.host),
  };
}

interface Wanted {
  readonly only: string | undefined;
  readonly renewal: RenewalOptions;
}

/** Returns what was renewed. If one certificate cannot be renewed, the others still are. */
async function renewLeaves(
  layout: Layout,
  { only, renewal }: Wanted,
  host: Host,
): Promise<readonly CertificateFacts[]> {
  await openAuthority(layout, renewal.now);
  return withLock(layout, host, async () => {
    let authority: Authority = await openAuthority(layout, renewal.now);
    const names = only === undefined ? [BROKER, ...(await foldersIn(layout.clusters))] : [only];
    const renewed: string[] = [];
    for (const name of names) {
      const plan = await planRenewal(authority, name, renewal);
      if (plan.kind === "renew") {
        authority = await issueLeaf(authority, plan.order);
        renewed.push(name);
      } else reportNotRenewed(plan, { isOnlyOne: only !== undefined, host });
    }
    noteRenewed(renewed, layout, host);
    return readNamed(layout, renewed, renewal.now);
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
