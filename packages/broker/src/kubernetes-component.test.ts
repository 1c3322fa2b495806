import { randomBytes } from "node:crypto";
import { DEFAULT_SLICE } from "@resource-broker/contract";
import { settle } from "@resource-broker/testkit";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { runEngine } from "./engine/testing/run-engine.ts";
import { directClient } from "./interface/kubernetes/testing/direct-client.ts";
import { openEnvironment, type TestEnvironment } from "./interface/kubernetes/testing/environment.ts";
import { NAMESPACE } from "./interface/kubernetes/testing/samples.ts";
import { kubernetesComponent } from "./kubernetes-component.ts";

/** How long a start waits for an API server that does not answer. */
const LIMIT_MS = 3000;

let env: TestEnvironment;
beforeEach(async () => {
  env = await openEnvironment();
  return env.stop;
});

/** At an API server that answers nothing before the test is over if it `isAway`. */
async function component({ isAway = false } = {}) {
  const { engine, store } = await runEngine({ clock: env.time });
  onTestFinished(engine.stop);
  let comeBack: () => void = () => undefined;
  const back = new Promise<undefined>((resolve) => {
    comeBack = () => resolve(undefined);
  });
  const client = directClient(env.cluster.api, () => (isAway ? back : undefined));
  const parts = kubernetesComponent(
    { replica: "replica-1", views: true, objects: true },
    {
      open: () => Promise.resolve({ client, namespace: NAMESPACE }),
      engine,
      store,
      clock: env.time,
      random: () => 0.5,
      randomBytes,
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
      isLeading: () => true,
      sliceDefaults: () => DEFAULT_SLICE,
      onPolicy: () => undefined,
    },
  );
  onTestFinished(async () => {
    comeBack();
    await parts.stop();
  });
  return parts;
}

async function isOver(task: Promise<void>): Promise<boolean> {
  let isDone = false;
  void task.then(() => (isDone = true));
  await settle();
  return isDone;
}

describe("the BrokerPolicy is waited for", () => {
  test("until it is known whether there is one, and nothing else is started before", async () => {
    const { readPolicy, lead, check } = await component();
    await readPolicy();
    expect(check.problem()).toBe("the broker's objects are not synced yet");
    await lead();
    expect(check.problem()).toBeUndefined();
  });

  test("for a few seconds where the API server does not answer, and its objects for no more", async () => {
    const { readPolicy, lead } = await component({ isAway: true });
    const reading = readPolicy();
    await env.time.advance(LIMIT_MS - 1);
    expect(await isOver(reading)).toBe(false);
    await env.time.advance(1);
    expect(await isOver(reading)).toBe(true);
    expect(await isOver(lead())).toBe(true);
  });
});
