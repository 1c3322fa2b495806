import type { CertificateSet } from "./certificate-set.ts";

/** Where a program's certificates come from, and come anew. */
export interface CertificateSource {
  /** The first whole set; rejects with what is wrong with it. */
  readonly start: () => Promise<CertificateSet>;
  /** Called with every later whole set that differs; the returned function ends it. */
  readonly onChange: (listener: (set: CertificateSet) => void) => () => void;
  readonly stop: () => void;
}
