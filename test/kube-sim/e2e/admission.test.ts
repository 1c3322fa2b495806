import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ADMISSION_CASES } from "@resource-broker/contract/testing";
import { systemClock } from "@resource-broker/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createKubeSim } from "../src/create-kube-sim.ts";
import { type KubectlPlace, runKubectl, type Seen } from "./testing/run-kubectl.ts";

type Case = (typeof ADMISSION_CASES)[number] & { readonly id: string };

const crds = join(import.meta.dirname, "../../../deploy/crds");
const clock = systemClock(() => performance.timeOrigin + performance.now());
const sim = createKubeSim({ clock, randomBytes });
/** Each case works on an object of its own, so that one call of kubectl can carry many. */
const cases: readonly Case[] = ADMISSION_CASES.map((one, index) => ({ ...one, id: `case-${index}` }));
let place: KubectlPlace;
const results = new Map<string, Seen>();

beforeAll(async () => {
  const home = await mkdtemp(join(tmpdir(), "kube-sim-admission-"));
  const cluster = await sim.addCluster({ name: "rome" });
  const kubeconfig = join(home, "kubeconfig");
  await writeFile(kubeconfig, cluster.kubeconfig);
  place = { home, kubeconfig, crds };
  await runKubectl(place, { args: ["apply", "-f", "{crds}"] });
  await arrange();
  await act();
});

afterAll(async () => {
  await sim.stop();
  await rm(place.home, { recursive: true });
});

/** What must be there before: the old object with its status, or a good one whose status is then made wrong. */
async function arrange(): Promise<void> {
  const old = cases.filter((one) => one.old !== undefined);
  await kubectl(
    "create",
    old.map((one) => named(one, one.old ?? {})),
  );
  await kubectl(
    "replace --subresource=status",
    old.map((one) => named(one, one.old ?? {})),
  );
  await kubectl(
    "create",
    cases.filter(isAboutStatus).map((one) => named(one, one.object)),
  );
}

async function act(): Promise<void> {
  const onStatus = cases.filter(isAboutStatus);
  const changes = cases.filter((one) => one.old !== undefined && !isAboutStatus(one));
  const births = cases.filter((one) => one.old === undefined && !isAboutStatus(one));
  for (const [line, rows] of [
    ["create", births],
    ["replace", changes],
    ["replace --subresource=status", onStatus],
  ] as const) {
    const seen = await kubectl(
      line,
      rows.map((one) => named(one, one.object)),
    );
    for (const { id } of rows) results.set(id, seen);
  }
}

describe("our CRDs, as the real kubectl meets them", () => {
  test.each(cases)("$name", ({ id, refusal }) => {
    const seen = results.get(id);
    if (refusal === undefined) {
      expect(seen?.stdout).toMatch(new RegExp(`/${id} (created|replaced)`, "u"));
      return;
    }
    expect(seen?.stdout).not.toContain(`/${id} `);
    const complaint = complaintOf(id, seen?.stderr ?? "");
    expect(complaint).toContain(`${refusal.field}: `);
    expect(complaint).toContain(refusal.message);
  });
});

function isAboutStatus({ refusal }: Case): boolean {
  return refusal?.field.startsWith("status") === true;
}

function named({ id }: Case, object: object): object {
  const metadata = "metadata" in object && typeof object.metadata === "object" ? object.metadata : {};
  return { ...object, metadata: { ...metadata, name: id } };
}

function kubectl(line: string, items: readonly object[]): Promise<Seen> {
  const stdin = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  return runKubectl(place, { args: [...line.split(" "), "-f", "-"], stdin });
}

/** From where kubectl names the object to where its next complaint begins. */
function complaintOf(id: string, stderr: string): string {
  const start = stderr.indexOf(`"${id}" is invalid: `);
  if (start === -1) return "";
  const length = stderr.slice(start).search(/\n(?:Error from server|The )/u);
  return stderr.slice(start, length === -1 ? undefined : start + length);
}
