import { describeLiqoWay, TWO_CLUSTERS } from "./testing/liqo-way.ts";
import { startLiqoWorld } from "./testing/liqo-world.ts";

describeLiqoWay("kube-sim", () => startLiqoWorld({ clusters: TWO_CLUSTERS }));
