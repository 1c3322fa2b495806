import type { AssetsList } from "../assets-list.ts";
import type { PinnedModule } from "../pinned-module.ts";

/** How the bench's Go answers `go mod download -json`: MISSING takes all modules away, SUM is another checksum. */
export function moduleReplies(list: AssetsList): string {
  const replies = modulesOf(list).map(
    ({ path, sum }) =>
      `*"${path}@"*) echo "{\\"Dir\\":\\"$BENCH/modules/${path}\\",\\"Sum\\":\\"\${SUM:-${sum}}\\"}" ;;`,
  );
  return `"mod "*)
    if [ -n "$MISSING" ]; then echo '{"Error": "module lookup disabled"}'; exit 1; fi
    case "$4" in
    ${replies.join("\n    ")}
    esac ;;`;
}

/** In each file that is copied by its name: that name. */
export function moduleFiles(list: AssetsList): Record<string, string> {
  const inModules = [
    ...modulesOf(list).map(({ path }) => `${path}/go.mod`),
    ...list.copies.flatMap(({ module, from }) =>
      typeof from === "string" ? [] : from.map((name) => `${module.path}/${name}`),
    ),
  ];
  return Object.fromEntries(inModules.map((name) => [`modules/${name}`, `# ${name}\n`]));
}

function modulesOf({ copies, programs }: AssetsList): readonly PinnedModule[] {
  const modules = [...copies, ...programs].flatMap(({ module }) => (module === undefined ? [] : [module]));
  return [...new Map(modules.map((module) => [module.path, module])).values()];
}
