/** `get clusters` → `get-clusters.schema.json` */
export function schemaFileOf(path: string): string {
  return `${path.replaceAll(" ", "-")}.schema.json`;
}
