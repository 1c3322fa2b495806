export {
  type CertificateFolderDeps,
  certificateFolder,
  type MoreAuthorities,
} from "./certificates/certificate-folder.ts";
export {
  type CertificateFiles,
  type CertificateSet,
  type CertificateSource,
  isSameSet,
  observedCertificates,
  readCertificateSet,
  revokedCount,
} from "./certificates/certificate-set.ts";
export { watchFolder } from "./certificates/folder-watch.ts";
export { makeFolder } from "./files/make-folder.ts";
export { readText } from "./files/read-text.ts";
export { createLog, logOptions } from "./log/create-log.ts";
export {
  addCertificateMetric,
  addEventLoopMetric,
  addProcessMetrics,
  createMetricsRegistry,
  type MetricsRegistry,
} from "./metrics/registry.ts";
export type { MetricsSource, ReadinessCheck } from "./probe/pages.ts";
export { isLoopback, parseAddress, probeSettings, probeSettingsProblems } from "./probe/probe-settings.ts";
export { createProbes } from "./probe/probes.ts";
export { createReloads, type Reloads, type ReportReload } from "./probe/reloads.ts";
export { describeFailure, EXIT, type Program, runUntilSignal } from "./process/run-until-signal.ts";
export {
  IGNORED_GO_FLAGS,
  PROGRAM_SETTINGS,
  readSettings,
  type SettingsInput,
  type SettingsOutcome,
} from "./settings/read-settings.ts";
export { parseYaml, yamlReader } from "./settings/read-yaml.ts";
export { sha256 } from "./sha256.ts";
export { systemClock } from "./system-clock.ts";
export {
  type CrlSummary,
  makeCrl,
  REVOCATION_REASONS,
  type Revocation,
  type RevocationReason,
  readCrl,
} from "./x509/crl.ts";
export { EXTENDED_KEY_USAGE_IDS } from "./x509/extensions.ts";
export {
  type InMemoryAuthority,
  type IssuedCertificate,
  inMemoryAuthority,
} from "./x509/in-memory-authority.ts";
export {
  authorityName,
  makeAuthorityCertificate,
  makeIntermediateCertificate,
  makeLeafCertificate,
} from "./x509/make-certificate.ts";
export { readPem, toPem } from "./x509/pem.ts";
export { pathLengthOf, subjectKeyIdOf } from "./x509/read-extensions.ts";
export { generateKeys, type Issuer, subjectOf, toKeyPem } from "./x509/sign.ts";
export {
  type Csr,
  makeCsr,
  readCsr,
  readStrongKey,
  requireSubject,
  SUBJECT_ATTRIBUTE,
  type SubjectAttribute,
} from "./x509/csr.ts";
export {
  fingerprintOf,
  generateIdentityKey,
  type IdentityKey,
  isSignedJws,
  isSignedText,
  publicKeyHash,
  readIdentityKey,
  readJws,
  signJws,
  signText,
  tokenSecretHash,
} from "./x509/identity-key.ts";
