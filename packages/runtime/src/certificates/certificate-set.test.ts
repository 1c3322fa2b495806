import { testCertificates } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import {
  type CertificateSet,
  certificateExpiries,
  observedCertificates,
  readCertificateSet,
} from "./certificate-set.ts";

const [first, second] = await Promise.all([testCertificates(), testCertificates()]);

function setOf({ cert, key, ca }: (typeof first)["broker"], more = ""): CertificateSet {
  return readCertificateSet({ cert, key, ca: `${ca}${more}`, crl: undefined });
}

test("of several authorities the last one to expire counts", () => {
  const both = setOf(first.broker, second.broker.ca);
  const ends = both.authorities.map(({ validToDate }) => validToDate.getTime() / 1000);
  expect(ends).toHaveLength(2);
  expect(certificateExpiries(both)).toEqual([
    { file: "tls.crt", atSeconds: both.own.validToDate.getTime() / 1000 },
    { file: "ca.crt", atSeconds: Math.max(...ends) },
  ]);
});

test("whoever watches a source hears of its first set and of every later one; others hear no less", async () => {
  const [old, renewed] = [setOf(first.broker), setOf(second.broker)];
  const listeners = new Set<(set: CertificateSet) => void>();
  const sets: CertificateSet[] = [];
  const used: CertificateSet[] = [];
  const source = observedCertificates(
    {
      start: () => Promise.resolve(old),
      onChange: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      stop: () => undefined,
    },
    (set) => void sets.push(set),
  );
  expect(await source.start()).toBe(old);
  source.onChange((set) => void used.push(set));
  for (const listener of listeners) listener(renewed);
  expect(sets).toEqual([old, renewed]);
  expect(used).toEqual([renewed]);
});
