import { type CertificateSet, FILE_NAMES } from "./certificate-set.ts";
import type { CertificateSource } from "./certificate-source.ts";

/** Expiry of a certificate file. */
export interface CertificateEnd {
  readonly file: string;
  readonly atSeconds: number;
}

/**
 * Expiry of the program's certificate and of its CA file. During a CA rotation the file has several authorities: the latest
 * expiry counts.
 */
export function certificateEnds({ own, authorities }: CertificateSet): readonly CertificateEnd[] {
  const seconds = (date: Date): number => date.getTime() / 1000;
  return [
    { file: FILE_NAMES.cert, atSeconds: seconds(own.validToDate) },
    {
      file: FILE_NAMES.ca,
      atSeconds: Math.max(...authorities.map(({ validToDate }) => seconds(validToDate))),
    },
  ];
}

/** The same source; `tell` is also called with the first set and with every later one. */
export function watchedCertificates(
  source: CertificateSource,
  tell: (set: CertificateSet) => void,
): CertificateSource {
  return {
    ...source,
    start: async () => {
      const first = await source.start();
      tell(first);
      source.onChange(tell);
      return first;
    },
  };
}
