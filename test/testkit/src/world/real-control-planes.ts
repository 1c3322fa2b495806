import type { RealControlPlane, ServerAccess } from "../control-plane/control-plane.ts";
import { startControlPlane } from "../control-plane/start-control-plane.ts";
import type { FaultyProxy } from "../proxy/faulty-proxy.ts";
import type { ControlPlanes } from "./control-planes.ts";

/** A real control plane, and the way by which its world reaches it: what is asked of the plane itself goes beside it. */
export interface ReachedPlane {
  readonly plane: RealControlPlane;
  readonly proxy: FaultyProxy;
  readonly access: ServerAccess;
}

export interface RealControlPlanes extends ControlPlanes {
  readonly reached: (name: string) => ReachedPlane;
}

/** Clusters with a real API server each, in processes of their own. */
export function realControlPlanes(): RealControlPlanes {
  const planes: RealControlPlane[] = [];
  const reached = new Map<string, ReachedPlane>();
  return {
    start: async (name, objects) => {
      const plane = await startControlPlane({ name });
      planes.push(plane);
      await plane.seed(running(objects));
      const { proxy, ...access } = await plane.proxied();
      reached.set(name, { plane, proxy, access });
      return access;
    },
    stop: async () => {
      await Promise.all(planes.splice(0).map((plane) => plane.dispose()));
    },
    reached: (name) => {
      const found = reached.get(name);
      if (found === undefined) throw new Error(`there is no real control plane ${name}`);
      return found;
    },
  };
}

interface Seeded {
  readonly kind?: unknown;
  readonly metadata?: { readonly name?: string };
  readonly spec?: object;
}

/** No scheduler and no kubelet is there: pods run on the nodes in turn. */
function running(objects: readonly Seeded[]): object[] {
  const nodes = objects.filter(({ kind }) => kind === "Node").map(({ metadata }) => metadata?.name);
  let next = 0;
  return objects.map((object) => {
    if (object.kind !== "Pod" || nodes.length === 0) return object;
    const nodeName = nodes[next++ % nodes.length];
    return { ...object, spec: { nodeName, ...object.spec }, status: { phase: "Running" } };
  });
}
