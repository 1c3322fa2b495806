import { describe, expect, test } from "vitest";
import { type ChartName, chartFolder, helm, whyNoHelm } from "../testing/helm.ts";

const isPossible = whyNoHelm() === undefined || process.env["KUBE_REQUIRED"] === "1";
const ROME = ["clusterID=rome", "broker.urls={https://broker.example:8443}"];

describe.runIf(isPossible)("helm", () => {
  test.concurrent.each([
    { chart: "broker", sets: [] },
    { chart: "agent", sets: ROME },
  ] as const)("lints the chart $chart without a warning", async ({ chart, sets }) => {
    const end = await helm(["lint", "--strict", chartFolder(chart), ...flags(sets)]);
    expect(end).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("0 chart(s) failed") });
  });

  const wrong: { chart: ChartName; sets: string[]; names: RegExp }[] = [
    { chart: "broker", sets: ["replica=1"], names: /additional properties 'replica' not allowed/ },
    { chart: "broker", sets: ["image.tagg=x"], names: /\/image.*'tagg' not allowed/ },
    { chart: "broker", sets: ["replicas=2"], names: /\/replicas.*maximum: got 2, want 1/ },
    {
      chart: "broker",
      sets: ["store.type=mysql"],
      names: /\/store\/type.*'sqlite', 'postgres', 'kubernetes'/,
    },
    { chart: "broker", sets: ["store.type=postgres"], names: /\/store\/postgres\/host.*minLength/ },
    { chart: "broker", sets: ["interfaces={kubernetes}", "views=false"], names: /\/views/ },
    { chart: "broker", sets: ["service.port=seven"], names: /\/service\/port.*got string, want integer/ },
    { chart: "broker", sets: ["tls.certManager.duration=1year"], names: /\/tls\/certManager\/duration/ },
    {
      chart: "broker",
      sets: ["podLabels.broker\\.fluidos\\.eu/role=leader"],
      names: /\/podLabels\/broker\.fluidos\.eu.*false schema/,
    },
    {
      chart: "agent",
      sets: [...ROME, "commonLabels.helm\\.sh/chart=x"],
      names: /\/commonLabels\/helm\.sh.*false schema/,
    },
    { chart: "agent", sets: [], names: /\/clusterID/ },
    { chart: "agent", sets: [...ROME, "clusterID=Rome_1"], names: /\/clusterID.*does not match pattern/ },
    { chart: "agent", sets: ["clusterID=rome"], names: /\/broker\/urls.*minItems/ },
    { chart: "agent", sets: [...ROME, "broker.urls={http://b.example}"], names: /\/broker\/urls\/0/ },
    { chart: "agent", sets: [...ROME, "broker.urls={https://b:99999}"], names: /\/broker\/urls\/0/ },
    { chart: "agent", sets: [...ROME, "broker.urls={https://b:65536/}"], names: /\/broker\/urls\/0/ },
    { chart: "agent", sets: [...ROME, "liqo.borrow.enabled=true"], names: /\/liqo\/enabled/ },
    { chart: "agent", sets: [...ROME, "liqo.mode=magic"], names: /\/liqo\/mode.*'relay'/ },
    { chart: "agent", sets: [...ROME, "liqo.mode=liqoctl"], names: /\/liqo\/borrow\/enabled/ },
    {
      chart: "agent",
      sets: [...ROME, "liqo.enabled=true", "liqo.borrow.enabled=true", "liqo.mode=relay"],
      names: /\/liqo\/mode/,
    },
    {
      chart: "agent",
      sets: [...ROME, "liqo.mode=relay", "identity.enabled=false"],
      names: /\/identity\/enabled/,
    },
    {
      chart: "agent",
      sets: ["join.existingSecret=x", "broker.transport=kubernetes"],
      names: /\/broker\/transport/,
    },
    {
      chart: "agent",
      sets: ["join.existingSecret=x", "identity.enabled=false"],
      names: /\/identity\/enabled/,
    },
    // It would stay readable in helm's own Secret of the release.
    { chart: "agent", sets: [...ROME, "join.token=rbj1.x"], names: /\/join.*'token' not allowed/ },
    {
      chart: "agent",
      sets: [...ROME, "liqo.peerFingerprints.paris=MD5:x"],
      names: /peerFingerprints\/paris/,
    },
    { chart: "broker", sets: ["enrollment.signer=embedded"], names: /\/enrollment\/secretName.*minLength/ },
    {
      chart: "broker",
      sets: ["tls.certManager.enabled=false"],
      names: /\/adminCA\/existingSecret.*minLength/,
    },
  ];
  test.concurrent.each(["b", "b.example/", "10.0.0.1:1", "[fd00::1]:30443/", "b:65535/broker"])(
    "takes the address https://%s of a broker",
    async (address) => {
      const sets = flags([...ROME, `broker.urls={https://${address}}`]);
      expect(await helm(["template", "x", chartFolder("agent"), ...sets])).toMatchObject({ exitCode: 0 });
    },
  );

  test.concurrent.each(wrong)(
    "refuses $sets for $chart, and names the value",
    async ({ chart, sets, names }) => {
      const { exitCode, stderr } = await helm(["template", "x", chartFolder(chart), ...flags(sets)]);
      expect(exitCode).toBe(1);
      expect(stderr.replaceAll("\n", " ")).toMatch(names);
    },
  );
});

function flags(sets: readonly string[]): string[] {
  return sets.flatMap((each) => ["--set", each]);
}
