import { describe, expect, test } from "vitest";
import { statusFault, statusOf, type Target } from "./status-fault.ts";

const target: Target = {
  server: "https://10.0.0.1:6443",
  origin: 'context "rome" of /config',
  verb: "update",
  object: { group: "broker.fluidos.eu", resource: "reservations/status", namespace: "lab", name: "rsv-1" },
};
const statusReply = (status: object) => ({
  type: "application/json",
  body: Buffer.from(JSON.stringify({ kind: "Status", ...status })),
});
const faultFor = (httpStatus: number, status: object) =>
  statusFault({ httpStatus, status: statusOf(statusReply(status)) }, target);

describe("a refusal of the API server", () => {
  test.each([
    [400, "BadRequest", "invalid"],
    [401, "Unauthorized", "unauthenticated"],
    [403, "Forbidden", "forbidden"],
    [404, "NotFound", "not-found"],
    [405, "MethodNotAllowed", "method-not-allowed"],
    [406, "NotAcceptable", "unsupported-media"],
    [409, "AlreadyExists", "already-exists"],
    [409, "Conflict", "conflict"],
    [410, "Gone", "gone"],
    [410, "Expired", "gone"],
    [413, "RequestEntityTooLarge", "too-large"],
    [415, "UnsupportedMediaType", "unsupported-media"],
    [422, "Invalid", "invalid"],
    [429, "TooManyRequests", "rate-limited"],
    [500, "InternalError", "overloaded"],
    [500, "ServerTimeout", "overloaded"],
    [503, "ServiceUnavailable", "overloaded"],
    [504, "Timeout", "overloaded"],
  ])("%d %s is %s", (code, reason, expected) => {
    const fault = faultFor(code, { code, reason, message: "why" });
    expect(fault.code).toBe(expected);
    expect(fault.message).toContain("why");
  });

  test.each([
    [400, "invalid"],
    [401, "unauthenticated"],
    [403, "forbidden"],
    [404, "not-found"],
    [408, "overloaded"],
    [409, "conflict"],
    [410, "gone"],
    [422, "invalid"],
    [429, "rate-limited"],
    [418, "internal"],
    [500, "overloaded"],
    [502, "unreachable"],
    [503, "overloaded"],
    [504, "unreachable"],
  ])("%d without a Status is %s", (httpStatus, expected) => {
    const status = statusOf({ type: "text/plain", body: Buffer.from("page\n  not found\n") });
    const fault = statusFault({ httpStatus, status }, target);
    expect(fault.code).toBe(expected);
    expect(fault.message).toContain("page not found");
  });

  test.each([
    ["an HTML page", "text/html", "<html>nginx</html>", "HTTP 502, no reason given"],
    ["nothing", "", "", "HTTP 502, no reason given"],
    ["broken JSON", "application/json", '{"kind":', '{"kind":'],
    ["broken protobuf", "application/vnd.kubernetes.protobuf", "k8s\0oops", "HTTP 502, no reason given"],
    ["JSON of another kind", "application/json", '{"error":"no"}', '{"error":"no"}'],
  ])("from a proxy with %s still expected what it can", (_, type, body, expected) => {
    const status = statusOf({ type, body: Buffer.from(body) });
    expect(statusFault({ httpStatus: 502, status }, target).message).toContain(expected);
  });

  test("expected how long to wait", () => {
    const fault = statusFault({ httpStatus: 429, status: {}, retryAfterMs: 7000 }, target);
    expect(fault).toMatchObject({ code: "rate-limited", retry: true, details: { retryAfterMs: 7000 } });
  });

  test("expected whose credentials are not known", () => {
    const { message } = faultFor(401, { code: 401, reason: "Unauthorized", message: "Unauthorized" });
    expect(message).toContain("https://10.0.0.1:6443 refused the credentials");
    expect(message).toContain('context "rome" of /config');
  });

  test("lists the causes that its message does not name", () => {
    const causes = [
      { field: "spec.cpu", message: "must be positive" },
      { field: "spec.memory", message: "Required value" },
      { message: "and more" },
    ];
    const { message } = faultFor(422, {
      code: 422,
      reason: "Invalid",
      message: "spec.cpu: must be positive",
      details: { causes },
    });
    expect(message).toContain(
      "is refused: spec.cpu: must be positive (spec.memory: Required value; and more)",
    );
  });
});

describe("a missing right", () => {
  const forbidden = (message: string) => faultFor(403, { code: 403, reason: "Forbidden", message }).message;

  test.each([
    [
      "in a namespace",

      'reservations.broker.fluidos.eu "rsv-1" is forbidden: User "system:serviceaccount:lab:agent" cannot update resource "reservations/status" in API group "broker.fluidos.eu" in the namespace "lab"',

      'user system:serviceaccount:lab:agent may not update reservations/status (broker.fluidos.eu) in namespace lab: add to a ClusterRole, or a Role in namespace lab, of theirs {apiGroups: ["broker.fluidos.eu"], resources: ["reservations/status"], verbs: ["update"]}',
    ],
    [
      "in the whole cluster",

      'pods is forbidden: User "ada" cannot list resource "pods" in API group "" at the cluster scope',

      'user ada may not list pods (core group): add to a ClusterRole of theirs {apiGroups: [""], resources: ["pods"], verbs: ["list"]}',
    ],
    [
      "that is not the call's own",

      'leases "x" is forbidden: User "ada" cannot create resource "leases" in API group "coordination.k8s.io" in the namespace "b"',
      "user ada may not create leases (coordination.k8s.io) in namespace b",
    ],
    [
      "to a path",
      'forbidden: User "system:anonymous" cannot get path "/version"',

      'user system:anonymous may not get /version: add to a ClusterRole of theirs {nonResourceURLs: ["/version"], verbs: ["get"]}',
    ],
    [
      "in words nobody knows",
      'User "ada" cannot do that',

      "user ada may not update reservations/status rsv-1 (broker.fluidos.eu) in namespace lab: add to",
    ],
  ])("%s is named with the rule that would give it", (_, message, expected) => {
    expect(forbidden(message)).toContain(expected);
  });

  test("is not blamed for what an admission rule refuses", () => {
    const message = forbidden('admission webhook "limits" denied the request: too many');
    expect(message).toContain("too many");
    expect(message).not.toContain("ClusterRole");
  });
});
