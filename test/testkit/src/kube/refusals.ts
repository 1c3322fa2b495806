import { ok } from "node:assert";
import { CONFIG_MAPS, NODES, PODS, SERVICE_ACCOUNTS } from "@resource-broker/kube";
import { refused } from "../refused.ts";
import { configMap, type KubePromise, promise } from "./kube-promise.ts";
import { pod } from "./shapes.ts";

const UNICORNS = { group: "", version: "v1", kind: "Unicorn", plural: "unicorns", isNamespaced: true };

export const REFUSALS: readonly KubePromise[] = [
  promise("a kind that is not served is not-found", async ({ client, namespace }) => {
    const list = client.list(UNICORNS, { namespace }, () => undefined);
    await refused(list, "not-found", /list unicorns .*could not find the requested resource/u);
    const elsewhere = { ...UNICORNS, group: "example.com" };
    await refused(client.get(elsewhere, { name: "one", namespace }), "not-found");
  }),

  promise("an object that is wrong is invalid, with every wrong field", async ({ client, ...setup }) => {
    const containers = [{ name: "Main" }];
    const call = client.create(PODS, pod(setup, "wrong", { containers, restartPolicy: "Sometimes" }));
    await refused(
      call,
      "invalid",
      /spec\.containers\[0\]\.name: Invalid value: "Main"/u,
      /spec\.containers\[0\]\.image: Required value/u,
      /spec\.restartPolicy: Unsupported value: "Sometimes"/u,
    );
  }),

  promise("who shows an unknown token is unauthenticated", async ({ unauthenticated, namespace }) => {
    const fault = await refused(
      unauthenticated.list(CONFIG_MAPS, { namespace }, () => undefined),
      "unauthenticated",
      /refused the credentials/u,
      /renew the token/u,
    );
    ok(!fault.retry, "asking again does not help");
    await refused(unauthenticated.create(CONFIG_MAPS, configMap({ namespace }, "one")), "unauthenticated");
  }),

  promise("who lacks a right is told which, and the rule that would give it", async (setup) => {
    const { client, namespace } = setup;
    await client.create(SERVICE_ACCOUNTS, { metadata: setup.in("poor") });
    const poor = await setup.accountClient(setup.in("poor"));
    const user = new RegExp(`system:serviceaccount:${namespace}:poor`, "u");
    await refused(
      poor.list(PODS, { namespace }, () => undefined),
      "forbidden",
      user,
      /may not list pods/u,
      /\{apiGroups: \[""\], resources: \["pods"\], verbs: \["list"\]\}/u,
    );
    const report = poor.patch(
      NODES,
      { name: { name: "any" }, patch: { kind: "merge", body: {} } },
      { subresource: "status" },
    );
    await refused(report, "forbidden", user, /resources: \["nodes\/status"\], verbs: \["patch"\]/u);
    poor.close();
  }),
];
