import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "@resource-broker/base";
import { HEADER, SIGNED_TEXT } from "@resource-broker/contract";
import {
  createReloads,
  generateIdentityKey,
  type IdentityKey,
  publicKeyHash,
  signText,
  tokenSecretHash,
  toKeyPem,
} from "@resource-broker/runtime";
import { type TestCertificates, writeCertificateFolder } from "@resource-broker/testkit";
import { createEnrollment, type Enrollment } from "../../../enrollment/enrollment.ts";
import type { ClientCredentials } from "./call.ts";

const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };
const DAY_MS = 86_400_000;

export interface EnrollmentSetup {
  readonly enrollment: Enrollment;
  readonly folder: string;
  readonly remove: () => Promise<void>;
}

/** What a broker with `--enrollment-cert-path`, and perhaps `--admin-ca`, has: an intermediate authority in a folder. */
export async function enrollmentSetup(
  certificates: TestCertificates,
  clock: Clock,
  adminCa?: string,
): Promise<EnrollmentSetup> {
  const folder = await mkdtemp(join(tmpdir(), "enrollment-"));
  const subject = [{ type: "CN", value: "Enrollment CA" }] as const;
  const authority = certificates.authority(
    { subject, basicConstraints: { ca: true, pathLength: 0 }, extendedKeyUsage: ["clientAuth"] },
    certificates.ca,
  );
  const ca = certificates.ca.cert;
  await writeCertificateFolder(folder, {
    cert: authority.cert,
    key: toKeyPem(authority.keys.privateKey),
    ca,
  });
  const adminFile = join(folder, "admin-ca.crt");
  if (adminCa !== undefined) await writeFile(adminFile, adminCa);
  const enrollment = createEnrollment(
    {
      "admin-ca": adminCa === undefined ? "" : adminFile,
      "broker-interface": ["http"],
      "http-cert-path": "/nowhere",
      "enrollment-cert-path": folder,
      "enrollment-issuer": "",
      "enrollment-lifetime": 30 * DAY_MS,
    },
    {
      clock,
      log: SILENT,
      randomBytes,
      reloads: createReloads(),
      open: () => Promise.reject(new Error("there is no cluster")),
    },
  );
  return { enrollment, folder, remove: () => rm(folder, { recursive: true }) };
}

/** A token as brokerctl makes it. */
export function newToken() {
  const secret = randomBytes(32).toString("base64url");
  const tokenID = randomBytes(5).toString("hex");
  return { tokenID, secret, secretHash: tokenSecretHash(secret) };
}
export type TestToken = ReturnType<typeof newToken>;

/** An agent as it is before it joins. */
export function newAgent(clusterID: string, tlsKeys = generateKeyPairSync("ec", { namedCurve: "P-256" })) {
  const identity = generateIdentityKey();
  const { publicKey, privateKey } = tlsKeys;
  const keyFields = (key: KeyObject = publicKey, by: IdentityKey = identity) => ({
    identityKey: by.id,
    publicKey: key.export({ type: "spki", format: "der" }).toString("base64"),
    keySignature: signText(SIGNED_TEXT.certificateKey(clusterID, publicKeyHash(key)), by),
  });
  return {
    clusterID,
    identity,
    publicKey,
    privateKey,
    /** The body of a call for the next certificate. */
    keyFields,
    /** The body of a call to enroll. */
    enrollment: ({ tokenID, secret, secretHash }: TestToken, ca: string, more: object = {}) => ({
      clusterID,
      tokenID,
      secret,
      ...keyFields(),
      tokenSignature: signText(
        SIGNED_TEXT.enrollment({
          clusterID,
          tokenID,
          secretHash,
          caHash: publicKeyHash(createPublicKey(ca)),
        }),
        identity,
      ),
      ...more,
    }),
    credentials: (cert: string, ca: string): ClientCredentials => ({
      cert,
      key: toKeyPem(privateKey),
      ca,
    }),
    headers: identityHeader(clusterID, identity, publicKey),
  };
}

/** The header by which an identity key vouches for the key of a certificate. */
export function identityHeader(clusterID: string, identity: IdentityKey, key: KeyObject | string) {
  const publicKey = typeof key === "string" ? createPublicKey(createPrivateKey(key)) : key;
  const signature = signText(SIGNED_TEXT.certificateKey(clusterID, publicKeyHash(publicKey)), identity);
  return { [HEADER.agentIdentity]: `${identity.id}.${signature}`, "Agent-Protocol": "2" };
}
