import { createPrivateKey, type KeyObject, type X509Certificate } from "node:crypto";
import type { Clock, Log } from "@resource-broker/base";
import {
  type CertificateSet,
  certificateFolder,
  EXTENDED_KEY_USAGE_IDS,
  makeLeafCertificate,
  pathLengthOf,
  type ReportReload,
  subjectKeyIdOf,
  subjectOf,
} from "@resource-broker/runtime";
import { certificatesIn } from "./client-trust.ts";
import { cannotSign, type Signer } from "./signer.ts";

/** Tolerance for an agent's clock that is behind. */
const CLOCK_SKEW_MS = 5 * 60_000;
const OWNER = {
  name: "the enrollment authority",
  peers: "the broker and its clients",
  remedy: "brokerctl certs init (--upgrade in a folder of an earlier version)",
};

const MAKES_SERVERS =
  "the enrollment authority may make servers: whoever takes its key can be the broker. One for clients alone (extended key usage clientAuth): brokerctl certs renew --enrollment";

export interface EmbeddedSignerOptions {
  /** tls.crt, perhaps with those before it, and tls.key of the intermediate authority; ca.crt with the authority above it. */
  readonly folder: string;
  readonly lifetimeMs: number;
}

export interface EmbeddedSignerDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly report: ReportReload;
  readonly randomBytes: (size: number) => Uint8Array;
}

export interface EmbeddedSigner extends Signer {
  /** Reads the folder; rejects when it holds no intermediate authority. Later changes are followed. */
  readonly start: () => Promise<void>;
  readonly stop: () => void;
  /** The authority that signs now, and those before it: their agents call until they have renewed. Empty: none is read. */
  readonly authorities: () => readonly X509Certificate[];
  readonly onChange: (listener: () => void) => () => void;
}

interface Authority {
  readonly certificate: X509Certificate;
  readonly earlier: readonly X509Certificate[];
  readonly privateKey: KeyObject;
}

/** Signs with a key of its own, from a folder that is read again when it changes. */
export function embeddedSigner(
  { folder, lifetimeMs }: EmbeddedSignerOptions,
  { clock, log, report, randomBytes }: EmbeddedSignerDeps,
): EmbeddedSigner {
  const source = certificateFolder(folder, { owner: OWNER, clock, log, report, rejectReason: problemOf });
  let inForce: Authority | undefined;
  const use = ({ own, files }: CertificateSet): void => {
    inForce = {
      certificate: own,
      earlier: certificatesIn(files.cert).filter(
        ({ ca, fingerprint256 }) => ca && fingerprint256 !== own.fingerprint256,
      ),
      privateKey: createPrivateKey(files.key),
    };
    if (mayMakeServers(own)) log.warn({ folder }, MAKES_SERVERS);
  };

  const sign: Signer["sign"] = async ({ clusterId, publicKey }) => {
    if (inForce === undefined) throw cannotSign("the enrollment authority is not read yet");
    const { certificate: authority, privateKey } = inForce;
    const now = clock.wallMs();
    const notAfter = Math.min(now + lifetimeMs, authority.validToDate.getTime());
    if (notAfter <= now)
      throw cannotSign("the enrollment authority has expired; renew it: brokerctl certs renew --enrollment");
    const keyId = subjectKeyIdOf(authority);
    const leaf = makeLeafCertificate(
      {
        commonName: clusterId,
        usages: ["clientAuth"],
        publicKey,
        notBefore: now - CLOCK_SKEW_MS,
        notAfter,
      },
      {
        name: subjectOf(authority),
        publicKey: authority.publicKey,
        privateKey,
        randomBytes,
        ...(keyId === undefined ? {} : { keyId }),
      },
    );
    return {
      certificate: leaf.toString() + authority.toString(),
      notAfterMs: leaf.validToDate.getTime(),
    };
  };

  return {
    kind: "embedded",
    start: async () => {
      const set = await source.start();
      const problem = problemOf(set);
      if (problem !== undefined) throw new Error(`--enrollment-cert-path ${folder}: ${problem}`);
      use(set);
      source.onChange(use);
    },
    stop: source.stop,
    authorities: () => (inForce === undefined ? [] : [inForce.certificate, ...inForce.earlier]),
    onChange: (listener) => source.onChange(listener),
    check: () => undefined,
    sign,
  };
}

/** Clients refuse a server below an authority whose extended key usage names other uses only. */
function mayMakeServers({ keyUsage }: X509Certificate): boolean {
  const usages: readonly string[] | undefined = keyUsage;
  return usages === undefined || usages.some((usage) => usage !== EXTENDED_KEY_USAGE_IDS.clientAuth);
}

function problemOf({ own, authorities }: CertificateSet): string | undefined {
  if (!own.ca) return "tls.crt belongs to no authority";
  if (own.publicKey.asymmetricKeyType !== "ec")
    return `tls.key is not of type EC; ${OWNER.remedy} makes one that is`;
  const above = authorities.find((each) => own.checkIssued(each) && own.verify(each.publicKey));
  if (above === undefined || above.fingerprint256 === own.fingerprint256)
    return "no other authority in ca.crt has signed tls.crt: it must be an intermediate authority";
  if (pathLengthOf(own) !== 0)
    return "tls.crt may have further authorities below it: make it with a path length of 0";
  if (pathLengthOf(above) === 0)
    return "the authority in ca.crt allows none below it (path length 0): brokerctl certs init --upgrade renews it, or use --enrollment-issuer";
  return undefined;
}
