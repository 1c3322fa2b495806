import { Fault, type FaultCode } from "@resource-broker/base";
import type { KubeClient } from "@resource-broker/kube";
import { fakeClock } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { recordedLog } from "../../testing/recorded-log.ts";
import { issuedClusterId, kubernetesTransport } from "./kubernetes-transport.ts";
import { fakeHub } from "./testing/fake-hub.ts";

const askedBy = (username: string | undefined): Pick<KubeClient, "create"> => ({
  create: <T>() => Promise.resolve({ status: { userInfo: { username } } } as T),
});
const failing = (code: FaultCode): Pick<KubeClient, "create"> => ({
  create: () => Promise.reject(new Fault(code, "no")),
});

describe("the cluster that a kubeconfig was issued for", () => {
  test.each([
    ["a service account of the broker's namespace", "system:serviceaccount:hub:agent-rome", "rome"],
    ["one with dots and dashes", "system:serviceaccount:hub:agent-rome-1.example", "rome-1.example"],
    ["one of another namespace", "system:serviceaccount:default:agent-rome", undefined],
    ["another service account", "system:serviceaccount:hub:broker", undefined],
    ["one without a cluster", "system:serviceaccount:hub:agent-", undefined],
    ["a person", "ada", undefined],
    ["nobody", undefined, undefined],
  ])("is read from %s", async (_, username, expected) => {
    expect(await issuedClusterId(askedBy(username), "hub")).toBe(expected);
  });

  test.each(["not-found", "forbidden"] as const)("is not known where the question is %s", async (code) => {
    expect(await issuedClusterId(failing(code), "hub")).toBeUndefined();
  });
});

describe("an agent that speaks through objects", () => {
  const connect = (clusterId: string, create: KubeClient["create"]) => {
    const clock = fakeClock();
    const client = { ...fakeHub(clock).clientOf("rome"), create };
    const log = recordedLog();
    const deps = {
      client,
      clock,
      random: () => 0,
      randomBytes: (size: number) => new Uint8Array(size),
      log,
    };
    return { made: kubernetesTransport({ namespace: "default", clusterId }, deps), lines: log.lines };
  };
  const issued = askedBy("system:serviceaccount:default:agent-rome").create;
  const person = askedBy("ada").create;

  test.each([
    { name: "is whom its kubeconfig was issued for", flag: "", create: issued, identity: "rome" },
    { name: "may say the same again", flag: "rome", create: issued, identity: "rome" },
    {
      name: "is whom the flag says, with anybody's kubeconfig",
      flag: "rome",
      create: person,
      identity: undefined,
    },
  ])("$name", async ({ flag, create, identity }) => {
    const communicator = await connect(flag, create).made;
    expect(communicator.identity()).toBe(identity);
    await communicator.close();
  });

  test.each([
    {
      name: "cannot say that it is another",
      flag: "paris",
      create: issued,
      message:
        '--cluster-id is "paris", but --broker-kubeconfig was issued for "rome": leave --cluster-id out, or make a kubeconfig with brokerctl kubeconfig issue paris',
    },
    {
      name: "must say who it is where nobody else does",
      flag: "",
      create: person,
      message:
        "--broker-kubeconfig does not say which cluster this is: give --cluster-id, or make a kubeconfig with brokerctl kubeconfig issue <cluster-id>",
    },
  ])("$name", async ({ flag, create, message }) => {
    await expect(connect(flag, create).made).rejects.toMatchObject({ code: "invalid", message });
  });

  test("has no statements to other clusters, and says which transport has", async () => {
    const transport = await connect("rome", issued).made;
    await expect(transport.putStatement("paris", "signed")).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("use --broker-transport=http for --liqo-mode=relay"),
    });
    await transport.close();
  });

  test("starts while the broker's cluster is away, if it knows who it is", async () => {
    const { made, lines } = connect("rome", failing("unreachable").create);
    const communicator = await made;
    expect(lines[0]).toContain("the cluster of the kubeconfig is not known yet");
    await communicator.close();
    await expect(connect("", failing("unreachable").create).made).rejects.toMatchObject({
      code: "unreachable",
    });
  });
});
