import http from "node:http";
import type { Plugin } from "rolldown";

const MODULE = "node:http";
const VIRTUAL = "\0lean-http";

/**
 * Importing `node:http` as a module reads every property it has, and with them Node's WebSocket and fetch: 13 MB that
 * nobody uses. Asking for the built-in object itself does not.
 */
export function leanHttp(): Plugin {
  return {
    name: "lean-http",
    resolveId: {
      filter: { id: /^node:http$/ },
      handler: () => ({ id: VIRTUAL, moduleSideEffects: false }),
    },
    load: {
      filter: { id: /^\0lean-http$/ },
      handler: () =>
        [`const http = process.getBuiltinModule("${MODULE}");`, ...eagerNames().map(exported)].join("\n"),
    },
  };
}

/** What is there without being made on demand. */
function eagerNames(): string[] {
  const properties = Object.entries(Object.getOwnPropertyDescriptors(http));
  return properties.filter(([, property]) => "value" in property).map(([name]) => name);
}

function exported(name: string): string {
  return `export const ${name} = http.${name};`;
}
