import { expect, test } from "vitest";
import {
  askCommand,
  fieldInAddress,
  quoteRequest,
  readWeights,
  readWhatIf,
  whatIfHref,
  writeWeights,
} from "./what-if-form.ts";

const form = (search: string) => readWhatIf(new URLSearchParams(search));

test("nobody is asked before the form says who asks, and for how much", () => {
  expect(quoteRequest(form(""))).toBeNull();
  expect(quoteRequest(form("requester=rome&cpu="))).toBeNull();
  expect(quoteRequest(form("requester=rome"))).toEqual({
    requesterID: "rome",
    request: { requestedResources: { cpu: "4", memory: "8Gi" }, duration: "1h" },
  });
});

test("constraints and weights are asked for as they are written", () => {
  const search =
    "requester=rome&cpu=16&memory=64Gi&gpu=2&duration=-&target=paris&regions=eu-west, eu-north&labels=tier=gold&exclude=oslo&weights=resources:0.2,cost:0.8";
  expect(quoteRequest(form(search))).toEqual({
    requesterID: "rome",
    request: {
      requestedResources: { cpu: "16", memory: "64Gi", gpu: "2" },
      targetClusterID: "paris",
      constraints: { regions: ["eu-west", "eu-north"], labels: { tier: "gold" }, excludeClusters: ["oslo"] },
    },
    weights: "resources:0.2,cost:0.8",
  });
});

test.each(["requester", "cpu", "memory", "duration"] as const)("an emptied %s stays empty", (field) => {
  const search = new URLSearchParams({ requester: "rome", [field]: fieldInAddress(field, "") });
  expect(readWhatIf(search)[field]).toBe("");
});

test("weights survive the address; nonsense in it does not count", () => {
  expect(readWeights(writeWeights({ resources: 0.7, cost: 0.3 }))).toEqual({ resources: 0.7, cost: 0.3 });
  expect(readWeights("")).toBeNull();
  expect(readWeights("cost:-1,:3,odd")).toBeNull();
});

test("a decision asked again asks for the same", () => {
  const request = {
    requestedResources: { cpu: "4", memory: "8Gi", gpu: "1" },
    tier: "spot" as const,
    constraints: { labels: { tier: "gold" } },
  };
  const [, search = ""] = whatIfHref({ requesterID: "rome", request })?.split("?") ?? [];
  expect(quoteRequest(form(search))).toEqual({ requesterID: "rome", request });
});

test("what the form cannot say is not asked again as something else", () => {
  const requestedResources = { cpu: "4", memory: "8Gi" };
  const perNode = { cpu: "4" };
  expect(whatIfHref({ requesterID: "rome", request: { requestedResources, perNode } })).toBeNull();
  const request = { requestedResources: { ...requestedResources, storage: "20Gi" } };
  expect(whatIfHref({ requesterID: "rome", request })).toBeNull();
});

test("the command is what a shell and kubectl take, whatever is written in the form", () => {
  const asked = quoteRequest(form('requester=rome&cpu=4&memory=8Gi&regions=eu"west'));
  expect(
    askCommand(asked ?? { requesterID: "", request: { requestedResources: { cpu: "1", memory: "1" } } }),
  ).toBe(
    [
      "kubectl create -f - <<'EOF'",
      "apiVersion: rear.fluidos.eu/v1alpha1",
      "kind: ResourceRequest",
      "metadata:",
      "  generateName: what-if-",
      "spec:",
      '  requestedCPU: "4"',
      '  requestedMemory: "8Gi"',
      '  duration: "1h"',
      '  constraints: {"regions":["eu\\"west"]}',
      "EOF",
      "",
    ].join("\n"),
  );
});
