export {
  type CertificateFolderDeps,
  type CertificateOwner,
  certificateFolder,
} from "./certificates/certificate-folder.ts";
export {
  certificateExpiries,
  type CertificateExpiry,
  type CertificateFiles,
  type CertificateSet,
  type CertificateSource,
  observedCertificates,
  readCertificateSet,
  revokedCount,
} from "./certificates/certificate-set.ts";
export { type FolderWatchOptions, watchFolder } from "./certificates/folder-watch.ts";
export type { RevocationList } from "./certificates/revocation-list.ts";
export { type Clock, systemClock } from "./clock/clock.ts";
export { makeFolder } from "./files/make-folder.ts";
export { readText } from "./files/read-text.ts";
export { reservationNameFor } from "./ids/reservation-name.ts";
export { createLog, type LogOptions, type LogSettings, logOptions } from "./log/create-log.ts";
export type { Log, LogFields } from "./log/log.ts";
export { inBaseUnits } from "./metrics/base-units.ts";
export { registerProcessGauges } from "./metrics/process-gauges.ts";
export { addProcessMetrics, createMetricsRegistry, type MetricsRegistry } from "./metrics/registry.ts";
export type { MetricsSource, ReadinessCheck } from "./probe/pages.ts";
export {
  type Address,
  parseAddress,
  type ProbeDefaults,
  type ProbeSettings,
  probeSettings,
  probeSettingsProblems,
} from "./probe/probe-settings.ts";
export { createProbes, type Probes, type ProbesDeps } from "./probe/probes.ts";
export { createReloads, type Reloads, type ReloadStatus, type ReportReload } from "./probe/reloads.ts";
export {
  describeFailure,
  EXIT,
  type Program,
  type RunDeps,
  runUntilSignal,
} from "./process/run-until-signal.ts";
export {
  IGNORED_GO_FLAGS,
  PROGRAM_SETTINGS,
  type ProgramSettings,
  readSettings,
  type SettingsInput,
  type SettingsOutcome,
  type SettingsSpec,
} from "./settings/read-settings.ts";
export { yamlReader } from "./settings/read-yaml.ts";
export {
  type CrlSummary,
  type CrlRequest,
  makeCrl,
  REVOCATION_REASONS,
  type Revocation,
  type RevocationReason,
  readCrl,
} from "./x509/crl.ts";
export { EXTENDED_KEY_USAGE_IDS, type ExtendedKeyUsage } from "./x509/extensions.ts";
export {
  type InMemoryAuthority,
  inMemoryAuthority,
  type IssuedCertificate,
  type LeafOptions,
} from "./x509/in-memory-authority.ts";
export {
  authorityName,
  type LeafRequest,
  makeAuthorityCertificate,
  makeLeafCertificate,
  type Validity,
} from "./x509/make-certificate.ts";
export { type PemBlock, pemBlocks, readPem, toPem } from "./x509/pem.ts";
export { generateKeys, type Issuer, subjectOf, toKeyPem } from "./x509/sign.ts";
