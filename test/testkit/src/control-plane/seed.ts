import type { RealControlPlane } from "./control-plane.ts";

/** What decides the order in which objects can be written. */
interface SeedObject {
  readonly kind?: unknown;
  readonly metadata?: { readonly name?: string };
  readonly status?: unknown;
}

const APPLY = ["apply", "--server-side", "--force-conflicts", "-f", "-"];
const TIMEOUT = "--timeout=60s";

/** Applies all of them with their status: definitions and namespaces first, and what is inside once these can take it. */
export async function seedObjects(
  kubectl: RealControlPlane["kubectl"],
  objects: readonly object[],
): Promise<void> {
  const must = async (args: readonly string[], stdin?: string): Promise<void> => {
    const { exitCode, stderr } = await kubectl(args, stdin);
    if (exitCode !== 0) throw new Error(`kubectl ${args.join(" ")} says: ${stderr}`);
  };
  const apply = async (items: readonly SeedObject[], ...flags: readonly string[]): Promise<void> => {
    if (items.length > 0) await must([...APPLY, ...flags], listOf(items));
  };
  const ofKind = (kind: string): SeedObject[] => objects.filter((object: SeedObject) => object.kind === kind);

  const definitions = ofKind("CustomResourceDefinition");
  const namespaces = ofKind("Namespace");
  const outer = [...definitions, ...namespaces];
  const inner = objects.filter((object: SeedObject) => !outer.includes(object));
  await apply(outer);
  if (definitions.length > 0) {
    const names = definitions.map(({ metadata }) => `crd/${metadata?.name}`);
    await must(["wait", "--for=condition=Established", TIMEOUT, ...names]);
  }
  for (const { metadata } of namespaces) {
    // Pods are refused until their namespace has its service account.
    await must(["wait", "--for=create", TIMEOUT, "-n", metadata?.name ?? "", "serviceaccount/default"]);
  }
  await apply(inner);
  await apply(
    inner.filter(({ status }: SeedObject) => status !== undefined),
    "--subresource=status",
  );
}

function listOf(items: readonly object[]): string {
  return JSON.stringify({ apiVersion: "v1", kind: "List", items });
}
