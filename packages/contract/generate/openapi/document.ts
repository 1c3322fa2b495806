import { FAULTS, type WireFaultCode } from "@resource-broker/base";
import { errorSchema } from "../../src/wire/error.ts";
import { componentSchemas, reference } from "./components.ts";
import { noCapacity } from "./examples.ts";
import { PARAMETERS, RESPONSE_HEADERS } from "./parameters.ts";
import { type Body, type HeaderName, methodAndPath, type Reply, type Route } from "./route.ts";
import { ROUTES } from "./routes.ts";

type Json = Readonly<Record<string, unknown>>;

/** Faults that any call with a certificate can meet. */
export const COMMON_FAULTS: readonly WireFaultCode[] = [
  "no-certificate",
  "forbidden",
  "wrong-instance",
  "method-not-allowed",
  "rate-limited",
  "internal",
  "not-leader",
  "overloaded",
  "store-unavailable",
];

/** The whole interface as OpenAPI 3.1. */
export function openApiDocument(): Json {
  return {
    openapi: "3.1.0",
    info: {
      title: "Resource Broker",
      version: "1.0.0",
      summary: "Kubernetes clusters lend each other CPU, memory and GPU.",
      description:
        "Generated from packages/contract. Do not edit: run `npm run generate`.\n\nEvery call is made over TLS with a client certificate; its single Common Name is the cluster's ID. Admins have OU=broker-admin.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    security: [{ mutualTLS: [] }],
    tags: TAGS,
    paths: pathsOf(ROUTES),
    components: {
      securitySchemes: {
        mutualTLS: {
          type: "mutualTLS",
          description: "A client certificate of the broker's CA; brokerctl certs issue.",
        },
      },
      schemas: componentSchemas(),
      parameters: PARAMETERS,
      headers: RESPONSE_HEADERS,
    },
  };
}

export const TAGS = [
  { name: "Advertisements", description: "What clusters have and can lend." },
  { name: "Reservations", description: "Resources of one cluster locked for another." },
  { name: "Instructions", description: "What a lending cluster has to hold." },
  { name: "Decisions", description: "Why, and what if." },
  { name: "Joining", description: "How an agent gets its certificates, and who may." },
  { name: "Peering", description: "What clusters state to each other." },
  { name: "Administration", description: "For operators." },
  { name: "Insight", description: "The fleet as a whole. The dashboard reads these calls." },
  { name: "Health", description: "For probes and dashboards." },
];

function pathsOf(routes: readonly Route[]): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const [method, path] = methodAndPath(route);
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(route) };
  }
  return paths;
}

function operationOf(route: Route): Json {
  const { parameters = [], body, faults: own = [] } = route;
  const replies = [route.reply, ...(route.otherReplies ?? [])];
  const successes = replies.map((reply) => [reply.status, successOf(reply, route)] as const);
  const faults = route.isPublic === true ? own : [...COMMON_FAULTS, ...own];
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    description: route.description,
    ...(route.isPublic === true ? { security: [] } : {}),
    ...(parameters.length === 0
      ? {}
      : { parameters: parameters.map((name) => ({ $ref: `#/components/parameters/${name}` })) }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: route.isBodyOptional !== true,
            content: { "application/json": mediaType(body) },
          },
        }),
    responses: { ...Object.fromEntries(successes), ...errorsOf(faults) },
  };
}

function successOf(reply: Reply, route: Route): Json {
  const always: readonly HeaderName[] = route.isPublic === true ? [] : ["Ledger-ID", "Broker-Protocol"];
  const headers = [...always, ...(reply.headers ?? [])];
  const content = {
    ...(reply.body === undefined ? {} : { "application/json": mediaType(reply.body) }),
    ...(reply.mediaType === undefined ? {} : { [reply.mediaType]: textType(reply.textExample) }),
  };
  return {
    description: reply.description,
    ...(headers.length === 0 ? {} : { headers: headersOf(headers) }),
    ...(Object.keys(content).length === 0 ? {} : { content }),
  };
}

/** One response for each status; several codes may share one. */
function errorsOf(codes: readonly WireFaultCode[]): Json {
  const statuses = [...new Set(codes.map((code) => FAULTS[code].status))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => [
      String(status),
      errorOf(codes.filter((code) => FAULTS[code].status === status)),
    ]),
  );
}

function errorOf(codes: readonly WireFaultCode[]): Json {
  const canRetry = codes.some((code) => FAULTS[code].retry);
  return {
    description: codes.map((code) => `\`${code}\`: ${FAULTS[code].advice}`).join("\n\n"),
    ...(canRetry ? { headers: headersOf(["Retry-After"]) } : {}),
    content: {
      "application/json": {
        schema: reference(errorSchema),
        examples: Object.fromEntries(codes.map((code) => [code, { value: errorExample(code) }])),
      },
    },
  };
}

function errorExample(code: WireFaultCode): Json {
  return code === "no-capacity" ? noCapacity : { error: FAULTS[code].advice, code };
}

function mediaType({ schema, otherSchema, example }: Body): Json {
  const either =
    otherSchema === undefined ? undefined : { anyOf: [reference(schema), reference(otherSchema)] };
  return { schema: either ?? reference(schema), example };
}

function textType(example: string | undefined): Json {
  return { schema: { type: "string" }, ...(example === undefined ? {} : { example }) };
}

function headersOf(names: readonly HeaderName[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
