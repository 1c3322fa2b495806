import { FAULTS } from "@resource-broker/base";
import { shapesSection, typeName } from "./fields.ts";
import { COMMON_FAULTS, TAGS } from "./openapi/document.ts";
import { PARAMETERS } from "./openapi/parameters.ts";
import type { Body, Reply, Route } from "./openapi/route.ts";
import { bodySchemas, ROUTES } from "./openapi/routes.ts";
import { GENERATED } from "./reference.ts";

/** docs/reference/api.md: every call, what it takes and what it answers. */
export function apiReference(): string {
  return [
    GENERATED,
    "# The HTTP API",
    "",
    "Every call is made over TLS with a client certificate whose single Common Name is the cluster's ID; admins have",
    "`OU=broker-admin`. Bodies are JSON, quantities are written as in Kubernetes, times as in RFC 3339. The same as OpenAPI 3.1 is",
    "served under `/openapi.json` on the probe port, and is in [openapi.json](../../packages/contract/openapi.json).",
    "",
    `Any call with a certificate can meet ${COMMON_FAULTS.map(faultLink).join(", ")}; what to do about each: [faults.md](faults.md).`,
    "",
    ...TAGS.flatMap(tagSection),
    ...shapesSection(bodySchemas()),
  ].join("\n");
}

function tagSection({ name, description }: (typeof TAGS)[number]): string[] {
  const routes = ROUTES.filter(({ tag }) => tag === name);
  return [`## ${name}`, "", description, "", ...routes.flatMap(routeSection)];
}

function routeSection(route: Route): string[] {
  const { call, summary, description, parameters = [], body, reply, otherReplies = [], faults = [] } = route;
  const takes = parameters.map((name) => {
    const { name: shown, in: where, description: meaning } = PARAMETERS[name];
    return `- \`${shown}\` (${where}): ${meaning}`;
  });
  const optional = route.isBodyOptional === true ? " (may be left out)" : "";
  return [
    `### ${summary}`,
    "",
    `\`${call}\``,
    "",
    description,
    "",
    ...takes,
    ...(body === undefined ? [] : [`- body${optional}: ${typeName(body.schema)}`, "", ...example(body)]),
    ...(takes.length === 0 && body === undefined ? [] : [""]),
    ...[reply, ...otherReplies].map(answer),
    ...(faults.length === 0 ? [] : [`- refused with ${faults.map(faultLink).join(", ")}`]),
    "",
  ];
}

function example({ example: value }: Body): string[] {
  return ["  ```json", `  ${JSON.stringify(value)}`, "  ```"];
}

function answer({ status, description, body, mediaType }: Reply): string {
  const content =
    body === undefined
      ? (mediaType ?? "no body")
      : [body.schema, ...(body.otherSchema === undefined ? [] : [body.otherSchema])]
          .map(typeName)
          .join(" or ");
  return `- **${status}** ${description} (${content})`;
}

function faultLink(code: keyof typeof FAULTS): string {
  return `\`${code}\` (${FAULTS[code].status})`;
}
