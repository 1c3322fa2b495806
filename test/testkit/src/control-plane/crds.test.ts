import { fileURLToPath } from "node:url";
import {
  type CustomResourceDefinition,
  customResourceDefinition,
  KINDS,
} from "@resource-broker/contract/crd";
import { ADMISSION_CASES, type AdmissionCase, GOOD_OBJECTS } from "@resource-broker/contract/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { controlPlaneAssets } from "./assets.ts";
import type { RealControlPlane, ServerReply } from "./control-plane.ts";
import { startControlPlane } from "./start-control-plane.ts";

const CRDS = fileURLToPath(new URL("../../../../deploy/crds", import.meta.url));
const START_TIMEOUT_MS = 600_000;
const OK = 0;

type Body = AdmissionCase["object"];
type Column = CustomResourceDefinition["spec"]["versions"][number]["additionalPrinterColumns"][number];

const definitions = KINDS.map(customResourceDefinition);
const rows = definitions.map((definition) => [definition.spec.names.kind, definition] as const);

describe.skipIf(!controlPlaneAssets().isThere)("our CRDs on a real API server", () => {
  let plane: RealControlPlane;

  beforeAll(async () => {
    plane = await startControlPlane({ name: "crds" });
  }, START_TIMEOUT_MS);

  afterAll(() => plane?.dispose(), START_TIMEOUT_MS);

  test("they install and become established", async () => {
    const applied = await plane.kubectl(["apply", "--server-side", "-f", CRDS]);
    expect(applied).toMatchObject({ exitCode: OK, stderr: "" });
    const names = definitions.map(({ metadata }) => `crd/${metadata.name}`);
    const waited = await plane.kubectl(["wait", "--for=condition=Established", "--timeout=20s", ...names]);
    expect(waited).toMatchObject({ exitCode: OK, stderr: "" });
  });

  test.each(rows)(
    "the definition of %s is accepted as it is, without a complaint",
    async (_, { metadata }) => {
      const { body } = await plane.request(
        "GET",
        `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${metadata.name}`,
      );
      const { status } = body as { status: { conditions: readonly { type: string; status: string }[] } };
      const is = Object.fromEntries(status.conditions.map((condition) => [condition.type, condition.status]));
      // A schema that is not structural would add a condition NonStructuralSchema.
      expect(is).toEqual({ NamesAccepted: "True", Established: "True" });
    },
  );

  test("the same definitions can be applied again and change nothing", async () => {
    const { exitCode, stdout } = await plane.kubectl(["diff", "--server-side", "-f", CRDS]);
    expect({ exitCode, stdout }).toEqual({ exitCode: OK, stdout: "" });
  });

  test.each(rows)("kubectl shows a %s with its columns", async (kind, { spec }) => {
    const object = renamed(GOOD_OBJECTS[kind] ?? {}, "shown");
    await write(object, spec, "POST");
    await write(object, spec, "PUT", "/status");
    const columns = spec.versions[0]?.additionalPrinterColumns ?? [];
    for (const [format, shown] of [
      [[], columns.filter(({ priority }) => priority === 0)],
      [["-o", "wide"], columns],
    ] as const) {
      const listed = await plane.kubectl(["get", spec.names.singular, "shown", ...format]);
      expect(listed).toMatchObject({ exitCode: OK, stderr: "" });
      expect(cellsOf(listed.stdout)).toEqual([
        ["NAME", "shown"],
        ...shown.map((column) => [column.name.toUpperCase(), cellFor(column, object)]),
      ]);
    }
  });

  test.each(rows)("kubectl knows the short names and explains the fields of %s", async (_, { spec }) => {
    for (const name of [spec.names.plural, spec.names.singular, ...spec.names.shortNames]) {
      expect(await plane.kubectl(["get", name, "shown", "-o", "name"])).toMatchObject({
        stdout: `${spec.names.singular}.${spec.group}/shown\n`,
      });
    }
    const explained = await plane.kubectl(["explain", `${spec.names.plural}.spec`, "--recursive"]);
    expect(explained.stdout).toContain("FIELDS:");
  });

  test.each(ADMISSION_CASES.map((each, index) => [each.name, each, `case-${index}`] as const))(
    "%s",
    async (_, each, name) => {
      const refusal = await refusalOf(each, name);
      if (each.refusal === undefined) {
        expect(refusal).toBeUndefined();
        return;
      }
      const { field, message } = each.refusal;
      expect(refusal).toMatchObject({ reason: "Invalid", code: 422 });
      expect(refusal?.details?.causes).toContainEqual(
        expect.objectContaining({ field, message: expect.stringContaining(message) }),
      );
    },
  );

  /** Writes as clients must: the status goes its own way. Returns why the server refuses the last object. */
  async function refusalOf({ kind, object, old }: AdmissionCase, name: string): Promise<Refusal | undefined> {
    const spec = definitions.find((definition) => definition.spec.names.kind === kind)?.spec;
    if (spec === undefined) throw new Error(`there is no kind ${kind}`);
    if (old !== undefined) {
      await write(renamed(old, name), spec, "POST");
      await write(renamed(old, name), spec, "PUT", "/status");
    }
    const written = await tryWrite(renamed(object, name), spec, old === undefined ? "POST" : "PUT");
    if (written.status >= 400) return written.body as Refusal;
    const reported = await tryWrite(renamed(object, name), spec, "PUT", "/status");
    return reported.status >= 400 ? (reported.body as Refusal) : undefined;
  }

  async function write(...args: Parameters<typeof tryWrite>): Promise<void> {
    const { status, body } = await tryWrite(...args);
    if (status >= 300) throw new Error(`the server refuses a good object: ${JSON.stringify(body)}`);
  }

  async function tryWrite(
    object: Body,
    spec: CustomResourceDefinition["spec"],
    method: string,
    subresource = "",
  ): Promise<ServerReply> {
    const collection = `/apis/${spec.group}/${spec.versions[0]?.name}/namespaces/default/${spec.names.plural}`;
    const { name } = object["metadata"] as { name: string };
    const path = method === "POST" ? collection : `${collection}/${name}${subresource}`;
    if (method === "POST") return plane.request(method, path, object);
    // An update must say which state it replaces.
    const { body } = await plane.request("GET", `${collection}/${name}`);
    const { resourceVersion } = (body as { metadata: { resourceVersion: string } }).metadata;
    return plane.request(method, path, {
      ...object,
      metadata: { name, namespace: "default", resourceVersion },
    });
  }
});

interface Refusal {
  readonly reason: string;
  readonly code: number;
  readonly details?: { readonly causes?: readonly { readonly field: string; readonly message: string }[] };
}

function renamed(object: Body, name: string): Body {
  return { ...object, metadata: { name, namespace: "default" } };
}

/** The columns of kubectl's table with the cell below each; a cell ends where the next column begins. */
function cellsOf(table: string): [column: string, cell: string][] {
  const [header = "", row = ""] = table.split("\n");
  const columns = [...header.matchAll(/\S+(?: \S+)*/g)];
  return columns.map(({ 0: column, index }, at) => [column, row.slice(index, columns[at + 1]?.index).trim()]);
}

/** What kubectl must show; an age only has to be one. */
function cellFor({ jsonPath, type }: Column, object: Body): unknown {
  if (jsonPath === ".metadata.creationTimestamp") return expect.stringMatching(/^\d+s$/);
  const value = jsonPath
    .slice(1)
    .split(".")
    .reduce<unknown>((at, field) => (at as Record<string, unknown> | undefined)?.[field], object);
  if (type === "date" && value !== undefined) return expect.stringMatching(/^\d+[smhdy]/);
  return typeof value === "string" ? value : JSON.stringify(value ?? "").replaceAll('"', "");
}
