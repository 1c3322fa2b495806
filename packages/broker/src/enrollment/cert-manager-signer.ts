import { createHash } from "node:crypto";
import { type Clock, errorText, Fault, type Log } from "@resource-broker/base";
import { customResource, type KubeClient } from "@resource-broker/kube";
import { publicKeyHash, readCsr, requireSubject, SUBJECT_ATTRIBUTE } from "@resource-broker/runtime";
import { cannotSign, checkIssued, type Signer, type SignedCertificate, type SigningOrder } from "./signer.ts";

/** The part of a CertificateRequest of cert-manager that is read and written. */
export interface CertificateRequest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly issuerRef: IssuerRef & { readonly group: string };
    /** The CSR in PEM, in base64. */
    readonly request: string;
    readonly duration: string;
    readonly usages: readonly string[];
    readonly isCA: boolean;
  };
  readonly status?: {
    /** In PEM, in base64. */
    readonly certificate?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
  };
}

export interface IssuerRef {
  readonly kind: "Issuer" | "ClusterIssuer";
  readonly name: string;
}

const GROUP = "cert-manager.io";
export const CERTIFICATE_REQUESTS = customResource<CertificateRequest>({
  group: GROUP,
  version: "v1",
  kind: "CertificateRequest",
  plural: "certificaterequests",
});

/** A call waits this long for the certificate; after that the agent asks again. */
const WAIT_MS = 5000;
const POLL_MS = 250;

/** `ClusterIssuer/NAME`, `Issuer/NAME` or `NAME`, which is an Issuer. Undefined: it is none of them. */
export function parseIssuer(text: string): IssuerRef | undefined {
  const [, kind = "Issuer", name] =
    /^(?:(Issuer|ClusterIssuer)\/)?([a-z0-9]([-a-z0-9.]*[a-z0-9])?)$/u.exec(text) ?? [];
  if (name === undefined || (kind !== "Issuer" && kind !== "ClusterIssuer")) return undefined;
  return { kind, name };
}

export interface CertManagerOptions {
  readonly issuer: IssuerRef;
  readonly lifetimeMs: number;
}

interface Cluster {
  readonly client: KubeClient;
  readonly namespace: string;
}

export interface CertManagerDeps {
  /** The broker's own cluster. */
  readonly open: () => Promise<Cluster>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Has cert-manager sign: one CertificateRequest for each key, in the broker's namespace, deleted when it is answered. */
export function certManagerSigner(
  { issuer, lifetimeMs }: CertManagerOptions,
  { open, clock, log }: CertManagerDeps,
): Signer {
  const sign: Signer["sign"] = async (order) => {
    check(order);
    try {
      return await signWith(await open(), order);
    } catch (error) {
      log.error(
        { cluster: order.clusterId, error: errorText(error) },
        "cert-manager did not sign a certificate",
      );
      throw cannotSign("cert-manager did not sign it; the broker's log says why", error);
    }
  };

  const signWith = async (
    { client, namespace }: Cluster,
    order: SigningOrder,
  ): Promise<SignedCertificate | "waiting"> => {
    const about = { name: nameOf(order), namespace };
    const wanted: CertificateRequest = {
      apiVersion: `${GROUP}/v1`,
      kind: "CertificateRequest",
      metadata: { ...about, labels: { "app.kubernetes.io/managed-by": "resource-broker" } },
      spec: {
        issuerRef: { ...issuer, group: GROUP },
        request: Buffer.from(order.csr ?? "").toString("base64"),
        duration: `${Math.floor(lifetimeMs / 1000)}s`,
        usages: ["digital signature", "client auth"],
        isCA: false,
      },
    };
    const remove = (): Promise<void> =>
      client
        .delete(CERTIFICATE_REQUESTS, about)
        .catch((error: unknown) =>
          log.warn({ ...about, error: errorText(error) }, "a CertificateRequest was not deleted"),
        );
    // The name stands for cluster and key: a repeated call finds the request of the first one.
    let current = (await client.find(CERTIFICATE_REQUESTS, about)) ?? (await create(client, wanted));
    for (let waitedMs = 0; outcomeOf(current) === "waiting" && waitedMs < WAIT_MS; waitedMs += POLL_MS) {
      await new Promise<void>((resolve) => void clock.after(POLL_MS, resolve));
      current = await client.get(CERTIFICATE_REQUESTS, about);
    }
    const outcome = outcomeOf(current);
    if (outcome === "waiting") return "waiting";
    await remove();
    if (outcome !== "issued") throw new Error(`${issuer.kind} ${issuer.name} refused it: ${outcome}`);
    return issuedIn(current, order);
  };
  return { kind: "cert-manager", check, sign };
}

async function create(client: KubeClient, wanted: CertificateRequest): Promise<CertificateRequest> {
  try {
    return await client.create(CERTIFICATE_REQUESTS, wanted);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "already-exists") throw error;
    return client.get(CERTIFICATE_REQUESTS, wanted.metadata);
  }
}

/** cert-manager copies the subject of a CSR: anything but exactly the cluster's name is refused before it sees it. */
function check({ clusterId, publicKey, csr }: SigningOrder): void {
  if (csr === undefined)
    throw new Fault(
      "invalid",
      `csr is missing: this broker's certificates are signed from a CSR for CN=${clusterId}`,
    );
  try {
    const request = readCsr(csr);
    requireSubject(request, [[SUBJECT_ATTRIBUTE.commonName, clusterId]]);
    if (!request.publicKey.equals(publicKey)) throw new RangeError("it is for another key than publicKey");
  } catch (error) {
    throw new Fault("invalid", `csr is refused: ${errorText(error)}`, { cause: error });
  }
}

function nameOf({ clusterId, publicKey }: SigningOrder): string {
  const digest = createHash("sha256")
    .update(`${clusterId}\n${publicKeyHash(publicKey)}`)
    .digest("hex");
  return `agent-${digest.slice(0, 32)}`;
}

/** Conditions, and reasons of the condition Ready, after which nothing is issued. */
const REFUSALS: readonly string[] = ["Denied", "InvalidRequest", "Failed"];

/** `issued`, `waiting`, or why it never will be. */
function outcomeOf({ status = {} }: CertificateRequest): string {
  const { conditions = [], certificate } = status;
  const isTrue = (wanted: string): boolean =>
    conditions.some(({ type, status: value }) => type === wanted && value === "True");
  const refusal = conditions.find(
    ({ type, status: value, reason = "" }) =>
      (REFUSALS.includes(type) && value === "True") || (type === "Ready" && REFUSALS.includes(reason)),
  );
  if (refusal !== undefined) return refusal.message ?? refusal.type;
  return isTrue("Ready") && certificate !== undefined ? "issued" : "waiting";
}

function issuedIn({ status }: CertificateRequest, order: SigningOrder): SignedCertificate {
  const certificate = Buffer.from(status?.certificate ?? "", "base64").toString("utf8");
  const { validToDate } = checkIssued(certificate, order);
  return { certificate, notAfterMs: validToDate.getTime() };
}
