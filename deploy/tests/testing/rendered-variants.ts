import { renderChart } from "./helm.ts";
import { type Manifest, manifestsIn } from "./objects.ts";
import { releaseOf, VARIANTS } from "./variants.ts";

/** Every variant as helm renders it, and what is in it. */
export interface RenderedVariants {
  readonly text: (variant: string) => string;
  readonly manifests: (variant: string) => readonly Manifest[];
}

export async function renderVariants(): Promise<RenderedVariants> {
  const rendering = VARIANTS.map(async ({ name, chart, values }) => {
    const text = await renderChart({ ...releaseOf(chart), chart, values });
    return [name, { text, manifests: manifestsIn(text) }] as const;
  });
  const rendered = new Map(await Promise.all(rendering));
  const one = (variant: string) => {
    const found = rendered.get(variant);
    if (found === undefined) throw new Error(`there is no variant "${variant}"`);
    return found;
  };
  return { text: (variant) => one(variant).text, manifests: (variant) => one(variant).manifests };
}
