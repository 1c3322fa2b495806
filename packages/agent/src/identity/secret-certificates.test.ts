import { IDENTITY_SECRET } from "@resource-broker/contract";
import { fakeClock, testCertificates } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { recordedLog } from "../testing/recorded-log.ts";
import type { SecretValues } from "./named-secret.ts";
import { secretCertificates } from "./secret-certificates.ts";

const certificates = await testCertificates();
const valuesOf = (name: string): SecretValues => {
  const { cert, key, ca } = certificates.cluster(name);
  return {
    [IDENTITY_SECRET.certificate]: cert,
    [IDENTITY_SECRET.tlsKey]: key,
    [IDENTITY_SECRET.authorities]: ca,
  };
};

test("a certificate of another cluster in the Secret is not used: all reservations were made under the first name", async () => {
  let values = valuesOf("rome");
  const reports: (string | undefined)[] = [];
  const source = secretCertificates({
    secret: { label: "system/identity", find: async () => values, change: async () => values },
    clock: fakeClock(),
    log: recordedLog(),
    report: (problem) => void reports.push(problem),
  });
  const first = await source.start();
  const heard: unknown[] = [];
  source.onChange((set) => heard.push(set));
  values = valuesOf("paris");
  expect(await source.refresh()).toBe(true);
  expect(source.current()).toBe(first);
  expect(heard).toEqual([]);
  expect(reports.at(-1)).toContain('tls.crt belongs to "paris", and this agent is "rome"');
});
