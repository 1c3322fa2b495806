import { readFile } from "node:fs/promises";
import type { KubeClient } from "@resource-broker/kube";
import { controlPlaneAssets, until } from "@resource-broker/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { type AccessEnvironment, accessEnvironment, POLICIES } from "./testing/access-environment.ts";
import { condition, HELD } from "./testing/access-objects.ts";
import { ADVERTISEMENT_ROWS, OTHER_ROWS, PRIVILEGED_ROWS } from "./testing/advertisement-rows.ts";
import { type AccessRow, patchesStatus, signals } from "./testing/agent-acts.ts";
import { RESERVATION_ROWS } from "./testing/reservation-rows.ts";

const START_TIMEOUT_MS = 600_000;
const ALL: readonly AccessRow[] = [...ADVERTISEMENT_ROWS, ...RESERVATION_ROWS, ...OTHER_ROWS];
const allowed = ALL.filter(({ refusal }) => refusal === undefined);
const refused = ALL.filter(({ refusal }) => refusal !== undefined);

interface Policy {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: { readonly validations?: readonly Validation[] };
}

interface Validation {
  readonly message: string;
  readonly messageExpression?: string;
}

const policies = parseAllDocuments(await readFile(POLICIES, "utf8"))
  .map((document) => document.toJS() as Policy)
  .filter(({ kind }) => kind === "ValidatingAdmissionPolicy");
const rules = policies.flatMap(({ spec }) =>
  (spec.validations ?? []).map((rule) => [rule.message, rule] as const),
);

test.each(rules)("some row is refused because %s", (_, { message, messageExpression = `"${message}"` }) => {
  // What the rule says, without the names that it fills in.
  const messages = [...messageExpression.matchAll(/"([^"]*)"/g)]
    .map(([, text = ""]) => text.trim())
    .filter((text) => text.length > 10);
  const isMessage = (refusal: string): boolean =>
    messages.some((text) => refusal.startsWith(text) || text.startsWith(refusal));
  expect([...refused, ...PRIVILEGED_ROWS].some(({ refusal = "" }) => isMessage(refusal))).toBe(true);
});

describe.skipIf(!controlPlaneAssets().isThere)("agents at a real API server", () => {
  let env: AccessEnvironment;

  beforeAll(async () => {
    env = await accessEnvironment([...new Set(ALL.map(({ by }) => by))]);
  }, START_TIMEOUT_MS);
  afterAll(() => env?.dispose(), START_TIMEOUT_MS);
  beforeEach(() => env.reset());

  test.each(policies.map(({ metadata }) => metadata.name))("the rules of %s fit the kinds", async (name) => {
    const status = await until("the server has looked at the rules", async () => {
      const path = `/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/${name}`;
      const { body } = await env.plane.request("GET", path);
      return (body as { status?: { observedGeneration?: number; typeChecking?: object } }).status;
    });
    expect(status).toMatchObject({ observedGeneration: 1, typeChecking: {} });
    expect(status.typeChecking).toEqual({});
  });

  test.each(allowed)("the agent of $by $name", async ({ by, does }) => {
    await expect(does(env.agentOf(by))).resolves.not.toThrow();
  });

  test.each(refused)("the agent of $by never $name", async ({ by, does, refusal = "" }) => {
    const messages: unknown = await does(env.agentOf(by)).catch((error: unknown) => error);
    expect(messages).toMatchObject({ code: "forbidden", message: expect.stringContaining(refusal) });
  });

  test("a signal on the longest status there can be costs the server no more than it gives", async () => {
    const long = { decision: "x".repeat(262_144), explanation: "y".repeat(16_384) };
    await patchesStatus(HELD, long)(env.admin);
    await expect(signals(HELD, condition("RequesterActive"))(env.agentOf("rome"))).resolves.not.toThrow();
    const change = patchesStatus(HELD, { decision: `${long.decision.slice(1)}z` })(env.agentOf("rome"));
    await expect(change).rejects.toThrow("may write only conditions of a Reservation");
  });

  describe("whom no role stops", () => {
    let agent: KubeClient;
    let person: KubeClient;
    beforeAll(async () => {
      [agent, person] = [await env.privileged("agent-rome"), await env.privileged("operator")];
    });

    test.each(PRIVILEGED_ROWS)("an agent never $name, but a person does", async ({ does, refusal = "" }) => {
      const messages: unknown = await does(agent).catch((error: unknown) => error);
      expect(messages).toMatchObject({ code: "forbidden", message: expect.stringContaining(refusal) });
      await expect(does(person)).resolves.not.toThrow();
    });
  });
});
