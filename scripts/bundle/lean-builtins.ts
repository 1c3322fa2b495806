import { isBuiltin } from "node:module";
import type { Plugin } from "rolldown";

const PREFIX = "\0lean-builtin:";
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/**
 * Importing a built-in module reads every property it has, and with them what Node otherwise loads on demand:
 * `node:http` brings WebSocket and fetch (13 MB), `node:fs` streams and promises, `node:crypto` WebCrypto, though nobody
 * uses them. Asking for the object itself does not.
 */
export function leanBuiltins(): Plugin {
  return {
    name: "lean-builtins",
    resolveId: {
      filter: { id: /^node:/ },
      // Older packages require a module and take what they get for its default export.
      handler: (id, _importer, { kind }) =>
        isBuiltin(id) && kind === "import-statement"
          ? { id: `${PREFIX}${id}`, moduleSideEffects: false }
          : undefined,
    },
    load: {
      filter: { id: new RegExp(`^${PREFIX}`) },
      handler: (id) => moduleText(id.slice(PREFIX.length)),
    },
  };
}

/** A module with the same names, each read only where somebody imports it. */
function moduleText(name: string): string {
  const names = eagerNames(name);
  return [
    `const module = process.getBuiltinModule("${name}");`,
    ...names.map((each) => `const lean_${each} = /* @__PURE__ */ (() => module.${each})();`),
    `export { ${names.map((each) => `lean_${each} as ${each}`).join(", ")} };`,
    "export default module;",
  ].join("\n");
}

/** What is there without being made on demand. Importing another name fails the bundle, and is then worth a thought. */
function eagerNames(name: string): string[] {
  const module: object = process.getBuiltinModule(name) ?? {};
  const properties = Object.entries(Object.getOwnPropertyDescriptors(module));
  return properties
    .filter(([each, property]) => "value" in property && IDENTIFIER.test(each) && each !== "default")
    .map(([each]) => each);
}
