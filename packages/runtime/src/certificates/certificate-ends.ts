import { type CertificateSet, FILE_NAMES } from "./certificate-set.ts";
import type { CertificateSource } from "./certificate-source.ts";

/** When a file of the folder is good for nothing any more. */
export interface CertificateEnd {
  readonly file: string;
  readonly atSeconds: number;
}

/**
 * The program's own certificate, and its authorities. While an authority is replaced both are in the file: what counts is
 * the moment from which nobody is trusted, so that of the last one.
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

/** The same source; each set that comes into force, the first one too, is also told to somebody who only looks. */
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
