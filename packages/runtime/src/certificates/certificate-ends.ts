import { type CertificateSet, FILE_NAMES } from "./certificate-set.ts";
import type { CertificateSource } from "./certificate-source.ts";

/** Expiry of a certificate file. */
export interface CertificateExpiry {
  readonly file: string;
  readonly atSeconds: number;
}

/**
 * Expiry of the program's certificate and of its CA file. During a CA rotation the file has several authorities: the latest
 * expiry counts.
 */
export function certificateExpiries({ own, authorities }: CertificateSet): readonly CertificateExpiry[] {
  const seconds = (date: Date): number => date.getTime() / 1000;
  return [
    { file: FILE_NAMES.cert, atSeconds: seconds(own.validToDate) },
    {
      file: FILE_NAMES.ca,
      atSeconds: Math.max(...authorities.map(({ validToDate }) => seconds(validToDate))),
    },
  ];
}

/** The same source; `onSet` is also called with the first set and with every later one. */
export function observedCertificates(
  source: CertificateSource,
  onSet: (set: CertificateSet) => void,
): CertificateSource {
  return {
    ...source,
    start: async () => {
      const first = await source.start();
      onSet(first);
      source.onChange(onSet);
      return first;
    },
  };
}
