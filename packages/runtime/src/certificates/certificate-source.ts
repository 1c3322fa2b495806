import type { CertificateSet } from "./certificate-set.ts";

/** Source of a program's certificates, with reload. */
export interface CertificateSource {
  /** The first valid set; rejects when it is invalid. */
  readonly start: () => Promise<CertificateSet>;
  /** Called with every later valid set that differs; the returned function unsubscribes. */
  readonly onChange: (listener: (set: CertificateSet) => void) => () => void;
  readonly stop: () => void;
}
