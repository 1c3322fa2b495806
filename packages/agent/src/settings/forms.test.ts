import { describe, expect, test } from "vitest";
import { readWrong, type Wrong } from "./testing/read-settings.ts";

const TAINT_FORMS = 'Write "key", "key=value", "key:Effect" or "key=value:Effect".';

const WRONG: readonly Wrong[] = [
  {
    name: "a cluster ID with capitals",
    argv: ["--cluster-id=Rome"],
    line: `--cluster-id: "Rome" is not a cluster ID: use lower-case letters, digits, '-' and single '.', at most 63 of them`,
  },
  {
    name: "a cluster ID in the environment that is too long",
    env: { AGENT_CLUSTER_ID: "a".repeat(64) },
    line: `AGENT_CLUSTER_ID: "${"a".repeat(64)}" is not a cluster ID: use lower-case letters, digits, '-' and single '.', at most 63 of them`,
  },
  {
    name: "a cluster name of two lines",
    argv: ["--cluster-name=a\nb"],
    line: "--cluster-name: use one line of at most 253 characters",
  },
  {
    name: "an endpoint without TLS",
    argv: ["--cluster-endpoint=http://10.0.0.7:6443"],
    line: '--cluster-endpoint: "http://10.0.0.7:6443" is not the address of an API server: write it like https://10.0.0.7:6443',
  },
  {
    name: "an endpoint with a query",
    argv: ["--cluster-endpoint=https://10.0.0.7:6443/?x=1"],
    line: '--cluster-endpoint: "https://10.0.0.7:6443/?x=1" is not the address of an API server: write it like https://10.0.0.7:6443',
  },
  {
    name: "a namespace with an underscore",
    argv: ["--instruction-namespace=kube_system"],
    line: '--instruction-namespace: "kube_system" is not a namespace: use lower-case letters, digits and "-", at most 63 of them',
  },
  {
    name: "an advertisement's name with a slash",
    argv: ["--advertisement-name=a/b"],
    line: '--advertisement-name: "a/b" is not the name of an object: use lower-case letters, digits, "-" and "."',
  },
  {
    name: "a label without a value",
    argv: ["--cluster-labels=tier"],
    line: '--cluster-labels: "tier" is not a label: write name=value, like tier=gold or example.com/site=north',
  },
  {
    name: "a taint with an unknown effect",
    argv: ["--tolerated-taints=gpu:Never"],
    line: `--tolerated-taints: "gpu:Never" is not a tolerated taint: "Never" is not an effect, known are NoSchedule, PreferNoSchedule, NoExecute. ${TAINT_FORMS}`,
  },
  {
    name: "an extended resource without a domain",
    argv: ["--extended-resources=fpga"],
    line: '--extended-resources: "fpga" is not an extended resource: write its domain and name, like amd.com/gpu',
  },
];

describe("wrong settings are one line with the remedy", () => {
  test.each(WRONG)("$name", async (wrong) => {
    expect(await readWrong(wrong)).toEqual({ ok: false, problems: [wrong.line] });
  });
});
