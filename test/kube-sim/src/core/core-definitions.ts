import type { ResourceDefinition } from "../api/definition.ts";
import { CONFIG_MAPS, SECRETS } from "./config-maps.ts";
import { CUSTOM_RESOURCE_DEFINITIONS } from "./custom-resource-definitions.ts";
import { NAMESPACES } from "./namespaces.ts";
import { NODES } from "./nodes.ts";
import { PODS } from "./pods/pods.ts";
import { SERVICES } from "./services.ts";
import { EVENTS, LEASES, SERVICE_ACCOUNTS } from "./small-kinds.ts";

/** The kinds that every cluster has from the start. Shared by all clusters of a process. */
export const CORE_DEFINITIONS: readonly ResourceDefinition[] = [
  CONFIG_MAPS,
  CUSTOM_RESOURCE_DEFINITIONS,
  EVENTS,
  LEASES,
  NAMESPACES,
  NODES,
  PODS,
  SECRETS,
  SERVICE_ACCOUNTS,
  SERVICES,
];
