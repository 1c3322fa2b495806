import { createHash, generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import { makeCsr, SUBJECT_ATTRIBUTE, type SubjectAttribute } from "@resource-broker/runtime";
import {
  controlPlaneAssets,
  type RealControlPlane,
  startControlPlane,
  until,
} from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findAssets } from "../../../tools/go-assets/assets-tool.ts";
import { DEFINITIONS, LIQO_ASSETS } from "../../../tools/liqo-assets/recipe.ts";

const DEPLOY = join(import.meta.dirname, "../..");
const CRDS = join(findAssets(LIQO_ASSETS, process.env).folder, DEFINITIONS);
const START_TIMEOUT_MS = 600_000;
const AGENT = ["--as", "system:serviceaccount:rear-agent:resource-broker-agent"];
const ROME = ["--as", "cool-rome", "--as-group", "liqo.io"];
const KINDS = ["tenants", "resourceslices"].map((kind) => join(CRDS, `authentication.liqo.io_${kind}.yaml`));
const FILES = ["rbac/agent.yaml", "rbac/agent-relay.yaml", "admission/agent-relay-requests.yaml"];
const REFUSED = "liqo.relay.strictRequests=false";

const { commonName, organization } = SUBJECT_ATTRIBUTE;
type Key = "ed25519" | "rsa" | "ec";
function keysOf(key: Key) {
  if (key === "rsa") return generateKeyPairSync("rsa", { modulusLength: 2048 });
  return key === "ec" ? generateKeyPairSync("ec", { namedCurve: "P-256" }) : generateKeyPairSync("ed25519");
}

interface Asked {
  readonly more?: readonly SubjectAttribute[];
  readonly key?: Key;
  readonly written?: (pem: string) => string;
}
const csrFor = (
  subject: readonly SubjectAttribute[],
  { more = [], key = "ed25519", written }: Asked,
): string => {
  const pem = makeCsr([...subject, ...more], keysOf(key));
  return Buffer.from(written?.(pem) ?? pem).toString("base64");
};
const made = (kind: string, name: string, spec: object) => ({
  apiVersion: "authentication.liqo.io/v1beta1",
  kind,
  metadata: { name, namespace: "default" },
  spec,
});
const sliceOf = (name: string, id: string, asked: Asked = {}) => {
  const digest = createHash("sha256").update(id).digest().subarray(0, 6).toString("hex");
  const subject = [
    [commonName, `${name}-${digest}`],
    [organization, id],
  ] as const;
  const spec = { class: "resource-broker", consumerClusterID: id, providerClusterID: "calm-paris" };
  return made("ResourceSlice", name, { ...spec, csr: csrFor(subject, asked) });
};
const tenantOf = (id: string, asked: Asked = {}) => {
  const subject = [
    [organization, "liqo.io"],
    [commonName, id],
  ] as const;
  return made("Tenant", id, {
    clusterID: id,
    publicKey: "YQ==",
    signature: "YQ==",
    csr: csrFor(subject, asked),
  });
};

const SECOND = { more: [[organization, "x"]] } as const;
const EVIL: readonly (readonly [what: string, asked: Asked])[] = [
  ["a second organisation", SECOND],
  ["a second organisation of one letter, without line breaks", { ...SECOND, written: inOneLine }],
  ["the group of admins", { more: [[organization, "system:masters"]] }],
  ["a second name", { more: [[commonName, "admin"]] }],
  ["text before it", { written: (pem) => `x\n${pem}` }],
  ["a header", { written: (pem) => pem.replace("REQUEST-----\n", "REQUEST-----\nX-Y: z\n\n") }],
  ["one line instead of several", { written: inOneLine }],
  ["a key of another kind", { key: "ec" }],
  ["an RSA key", { key: "rsa" }],
];
function inOneLine(pem: string): string {
  return pem.replaceAll(/(?<=[A-Za-z0-9+/=])\n(?=[A-Za-z0-9+/=])/gu, "").trim();
}

const isPossible = controlPlaneAssets().isThere && findAssets(LIQO_ASSETS, process.env).isThere;

describe.runIf(isPossible || process.env["KUBE_REQUIRED"] === "1")("a request that Liqo would sign", () => {
  let plane: RealControlPlane;
  const done = async (...args: string[]): Promise<void> => {
    const { exitCode, stderr } = await plane.kubectl(args);
    if (exitCode !== 0) throw new Error(stderr);
  };
  const tried = async (as: readonly string[], verb: string, ...objects: object[]): Promise<string> => {
    const list = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
    const { exitCode, stderr } = await plane.kubectl([...as, verb, "-f", "-"], list);
    return exitCode === 0 ? "done" : stderr;
  };

  beforeAll(async () => {
    plane = await startControlPlane({ name: "relay-requests" });
    await done("create", "namespace", "liqo");
    await done("apply", "--server-side", ...KINDS.flatMap((file) => ["-f", file]));
    await done("wait", "--for=condition=Established", "--timeout=60s", "crd", "--all");
    await done(
      "create",
      "clusterrole",
      "remote",
      "--verb=*",
      "--resource=resourceslices.authentication.liqo.io",
    );
    await done("create", "clusterrolebinding", "remote", "--clusterrole=remote", "--group=liqo.io");
    await done("apply", ...FILES.flatMap((file) => ["-f", join(DEPLOY, file)]));
    await plane.seed([sliceOf("before", "cool-rome", { key: "rsa" })]);
    // A policy counts a moment after it is written.
    await until("the policies are in force", async () => {
      const words = [
        await tried(ROME, "create", sliceOf("probe", "cool-rome", SECOND)),
        await tried(AGENT, "create", tenantOf("probe", SECOND)),
      ];
      for (const kind of ["resourceslices", "tenants"])
        await done("delete", `${kind}.authentication.liqo.io`, "probe", "--ignore-not-found");
      return words.every((word) => word.includes(REFUSED)) || undefined;
    });
  }, START_TIMEOUT_MS);
  afterAll(() => plane?.dispose(), START_TIMEOUT_MS);

  const LENGTHS = Array.from({ length: 63 }, (_, index) => index + 1);
  test("is taken as Liqo makes it, for cluster IDs of every length", async () => {
    const tenants = LENGTHS.map((length) => tenantOf("a".repeat(length)));
    expect(await tried(AGENT, "create", ...tenants)).toBe("done");
    const slices = LENGTHS.map((length) => sliceOf(`rsv-${length}`, "b".repeat(length)));
    expect(await tried(ROME, "create", ...slices)).toBe("done");
  }, 60_000);

  test("is taken for slices with names of every length", async () => {
    const lengths = Array.from({ length: 248 }, (_, index) => index + 6);
    const slices = lengths.map((length) => sliceOf("s".repeat(length), "cool-rome"));
    expect(await tried(ROME, "create", ...slices)).toBe("done");
  }, 120_000);

  test.each(EVIL)(
    "is refused with %s in it",
    async (_, asked) => {
      for (const length of [1, 9, 40]) {
        const id = "c".repeat(length);
        expect(await tried(AGENT, "create", tenantOf(id, asked))).toContain(REFUSED);
        expect(await tried(ROME, "create", sliceOf(`bad-${id}`, id, asked))).toContain(REFUSED);
      }
    },
    60_000,
  );

  test("is not refused for what it was before, only for what it becomes", async () => {
    const [before, changed] = [
      sliceOf("before", "cool-rome", { key: "rsa" }),
      sliceOf("before", "cool-rome", SECOND),
    ];
    const label = ["label", "resourceslices.authentication.liqo.io", "before", "a=b"];
    expect(await plane.kubectl([...ROME, ...label])).toMatchObject({ exitCode: 0 });
    expect(await tried(ROME, "apply", changed)).toContain(REFUSED);
    const { csr: _, ...spec } = before.spec as { csr: string };
    expect(await tried(ROME, "apply", { ...before, spec })).toBe("done");
  });

  test("does not get past it by a cluster ID that is changed afterwards", async () => {
    const long = "cool-rome".padEnd(9 + 11 + 14, "x");
    const asked = { more: [[organization, "system:masters"]] } as const;
    const slice = sliceOf("later", "cool-rome", asked);
    const first = { ...slice, spec: { ...slice.spec, consumerClusterID: long } };
    expect(await tried(ROME, "create", first)).toBe("done");
    const patch = JSON.stringify({ spec: { consumerClusterID: "cool-rome" } });
    const kind = "resourceslices.authentication.liqo.io";
    const { stderr } = await plane.kubectl([...ROME, "patch", kind, "later", "--type=merge", "-p", patch]);
    expect(stderr).toContain(REFUSED);
  });
});
